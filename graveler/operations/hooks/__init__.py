"""Hooks: finding those that are due, running them, and showing their runs."""
