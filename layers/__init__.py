"""Builds of the deployed archives and of the gateway's image."""
