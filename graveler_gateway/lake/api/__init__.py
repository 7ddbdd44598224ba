"""The lake over the HTTP API: for a gateway on a client's machine, which has only a key pair."""
