"""How operations slow down as staged changes and histories grow: `python -m bench.growth`."""
