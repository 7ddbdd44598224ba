"""Staged changes over committed data, and pages of listings."""
