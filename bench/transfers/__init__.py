"""Uploads and downloads of `graveler` and of `lakectl`, of the same server in turns."""
