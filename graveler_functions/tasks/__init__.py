"""The function that runs tasks."""
