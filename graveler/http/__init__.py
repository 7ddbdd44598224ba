"""What the HTTP side shares: authentication, schemas, queries, and the map from error to status."""
