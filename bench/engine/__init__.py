"""How fast committed data are written, read, changed and compared; `python -m bench.engine`."""
