"""Benchmarks: each prints numbers, none asserts one."""
