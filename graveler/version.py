"""Graveler's version: that of the package, of the command line and of the server."""

# setuptools reads it without an import, so it is a plain text (pyproject.toml).
VERSION = "0.1.0"
