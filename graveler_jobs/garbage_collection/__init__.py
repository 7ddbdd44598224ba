"""Garbage collection: deletes objects that no active commit and no staged entry needs."""
