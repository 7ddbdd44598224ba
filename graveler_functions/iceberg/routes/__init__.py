"""The operations of the catalogue: a module for each resource."""
