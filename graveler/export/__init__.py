"""Continuous export: keeping a branch as plain objects under a path of its own."""
