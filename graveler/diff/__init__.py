"""Differences between metaranges, at a cost that follows the difference."""
