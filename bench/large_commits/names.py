"""The names of sections and figures in the results of a running stack."""

ANSWERED = "answered after"
ADDITIONS = "Additions to an empty repository"
CHANGES = "Random changes to a repository"


def changes_name(amount: int) -> str:
    """Return the name of the figure of that many changes to a repository."""
    return f"{amount:,} changes, {ANSWERED}"
