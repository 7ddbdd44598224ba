"""Continuous export: what users ask for, and the runner that carries it out."""
