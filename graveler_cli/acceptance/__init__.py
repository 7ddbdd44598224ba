"""The acceptance suite: the whole user journey against a deployed endpoint, over its HTTP API."""
