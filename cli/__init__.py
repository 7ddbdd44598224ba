"""The command line `graveler`: a client of the HTTP API, over the official `lakefs` SDK."""
