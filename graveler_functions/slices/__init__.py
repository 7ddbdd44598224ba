"""The function that applies slices of large changes."""
