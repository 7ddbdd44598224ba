"""What the functions behind the HTTP API share: events, answers, and the table of routes."""
