def command() -> None:
    """."""
