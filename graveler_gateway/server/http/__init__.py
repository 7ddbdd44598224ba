"""An HTTP/1.1 server of threads with blocking sockets (docs/adr/0023-a-server-of-threads.md)."""
