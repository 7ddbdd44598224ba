"""The port to a repository's pull requests and to the comments on them."""

from collections.abc import Callable
from typing import Protocol

from graveler.model import Event, Page, Repository
from graveler.model.pulls import PullRequest, PullRequestComment


class PullRequestStore(Protocol):
    """Pull requests of a repository, and comments on them. move_branch stores their merges."""

    def pull_request(self, repository: Repository, pull_id: str) -> PullRequest | None:
        """Return the pull request at its current state."""

    def pull_requests(
        self,
        repository: Repository,
        prefix: str,
        after: str,
        amount: int,
        is_wanted: Callable[[PullRequest], bool],
    ) -> Page[PullRequest]:
        """Return the wanted pull requests by ID, which is newest first; after is an ID."""

    def create_pull_request(self, repository: Repository, pull: PullRequest, event: Event) -> None:
        """Store a new pull request.

        Raises:
            AlreadyExistsError: one has the ID.
        """

    def replace_pull_request(
        self, repository: Repository, old: PullRequest, new: PullRequest, event: Event
    ) -> PullRequest:
        """Replace old by new, and store the event in the same transaction.

        Returns:
            new as it is stored, with the next version.

        Raises:
            StaleVersionError: another writer changed the pull request.
        """

    def create_comment(
        self, repository: Repository, pull_id: str, comment: PullRequestComment, event: Event
    ) -> None:
        """Store a new comment on a pull request, and the event in the same transaction.

        Raises:
            AlreadyExistsError: one on the pull request has the ID.
        """

    def comment(
        self, repository: Repository, pull_id: str, comment_id: str
    ) -> PullRequestComment | None:
        """Return the comment on the pull request."""

    def comments(
        self, repository: Repository, pull_id: str, after: str, amount: int
    ) -> Page[PullRequestComment]:
        """Return comments on the pull request by ID, oldest first; after is an ID."""

    def delete_comment(self, repository: Repository, pull_id: str, comment_id: str) -> None:
        """Delete the comment on the pull request if there is one."""
