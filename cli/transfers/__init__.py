"""Files to objects and back: in parallel, resumable, verified by checksum, in bounded memory.

`TransferRunner` in cli.transfers.runner is the entry: it runs the jobs of cli.transfers.jobs.
"""
