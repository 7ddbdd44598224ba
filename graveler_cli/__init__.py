"""The command line `graveler`: lakectl's commands and more, a client of the HTTP API."""
