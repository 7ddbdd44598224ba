"""Action files: the hooks of a repository, and the events that run them."""
