"""Iceberg tables of a repository: their namespaces, their metadata, and commits to them."""
