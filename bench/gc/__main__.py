"""`python -m bench.gc`."""

from bench.gc.run import main

main()
