"""Action files: which hooks a repository asks for, and at which events."""
