"""Dumps of a repository's refs: what the files hold, writing them, and reading them again."""
