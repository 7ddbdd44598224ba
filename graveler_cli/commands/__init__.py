"""The commands, each in the module of its name; a module is imported when its command is named."""
