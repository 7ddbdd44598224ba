"""Runs `bench.api.run`."""

from bench.api.run import main

main()
