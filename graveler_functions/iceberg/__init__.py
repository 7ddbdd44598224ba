"""Iceberg's REST catalogue over the tables of all repositories."""
