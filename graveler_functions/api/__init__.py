"""lakeFS's HTTP API behind API Gateway."""
