"""The messages of failed exports: an object's URI, which may be long, and then the cause."""


def shortened(message: str, characters_max: int) -> str:
    """Return the message with at most so many characters; what is cut out is before the cause."""
    if len(message) <= characters_max:
        return message
    head = characters_max // 4
    return f"{message[:head]}…{message[head + 1 - characters_max :]}"


def summary(failed: int, error: str) -> str:
    """Return the message of a run in which so many objects failed, and one of the errors."""
    return f"{failed} {'task' if failed == 1 else 'tasks'} failed\n{error}"
