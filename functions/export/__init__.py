"""Exports branches."""
