"""Publishes on the bus what the outbox reports."""
