"""The routes of the API: a module for each resource, whose name is its tag in /openapi.json."""
