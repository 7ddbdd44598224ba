"""Dumps of a repository's refs: their records, their files, and checks of a whole dump."""
