"""The function that runs tasks whose hooks are due."""
