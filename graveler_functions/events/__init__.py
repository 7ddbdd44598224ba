"""Publishes the events of the outbox on the bus."""
