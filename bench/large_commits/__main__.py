"""Runs `bench.large_commits.run`."""

from bench.large_commits.run import main

main()
