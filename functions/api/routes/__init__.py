"""The routes of the API, one module per resource, the hottest first: routing is a linear scan."""
