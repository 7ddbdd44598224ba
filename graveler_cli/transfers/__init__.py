"""Transfers between files and objects: parallel, resumable, verified, in bounded memory.

`TransferRunner` in graveler_cli.transfers.runner is the entry: it runs the jobs of
graveler_cli.transfers.jobs.
"""
