"""Access control: policies say which actions a user may take on which resources."""
