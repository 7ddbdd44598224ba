"""How many ranges a commit reuses, and what it writes; `python -m bench.reuse`."""
