"""Retention: which commits keep their objects, and what garbage collection leaves alone."""
