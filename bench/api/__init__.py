"""The speed of a server of lakeFS's API: any server, by its endpoint and a key pair."""
