"""Staged changes, laid over committed data."""
