"""Drops, on a schedule, what branches and repositories left behind."""
