"""Runs `bench.beside.run`."""

import sys

from bench.beside.run import main

sys.exit(main())
