"""Graveler's versioning engine: pure Python over the ports of `graveler.ports`."""
