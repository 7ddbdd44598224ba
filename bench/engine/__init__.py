"""Rates of writing, reading, changing and comparing committed data: `python -m bench.engine`."""
