"""The operations of the API, one module per resource, hottest first: routing is a linear scan."""
