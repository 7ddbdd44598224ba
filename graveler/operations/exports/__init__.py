"""Continuous export: the requests of users, and the runner that carries runs out."""
