"""The commands, one module per group, named like the group."""
