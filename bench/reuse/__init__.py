"""Ranges that a commit reuses, and bytes that it writes: `python -m bench.reuse`."""
