"""Transfers between files and objects: parallel, resumable, verified, in bounded memory.

`TransferRunner` in cli.transfers.runner is the entry: it runs the jobs of cli.transfers.jobs.
"""
