"""Files to objects and back: in parallel, resumable, verified by checksum, in bounded memory.

`Engine` in cli.transfers.engine is the entry: it runs the jobs of cli.transfers.jobs.
"""
