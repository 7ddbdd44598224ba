"""Copies and moves of all objects with a prefix, as tasks."""
