"""A stress test of the embedded stack: clients, faults, and a check of the answers."""
