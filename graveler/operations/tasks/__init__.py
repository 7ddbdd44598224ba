"""Tasks: starting them, waiting for them, and running them."""
