"""The engine: runs uploads, downloads and deletions of one branch or ref."""

from collections.abc import Callable, Iterable, Iterator

from cli.client import Server
from cli.shapes import ObjectStats
from cli.transfers.jobs import Job, Options, Tally

Done = Callable[[Job, ObjectStats], None]


class Engine:
    """Moves data between files and the objects of a ref."""

    def __init__(
        self,
        server: Server,
        repository: str,
        ref: str,
        options: Options,
        *,
        warn: Callable[[str], None],
        shows_progress: bool = False,
    ) -> None:
        """Prepare an engine.

        Args:
            server: the server.
            repository: the repository.
            ref: a branch, for uploads and deletions; any ref for downloads.
            options: how jobs are done.
            warn: prints a line on standard error: one for each job that failed.
            shows_progress: whether a terminal on standard error shows the progress.
        """

    def run(self, jobs: Iterable[Job], done: Done | None = None) -> Tally:
        """Do jobs in parallel, in any order; a failed one does not stop the others.

        The jobs are taken from the iterable a few at a time. Each failure is one line by `warn`.

        Args:
            jobs: the jobs, in an order that is good to read: of a walk, or of a listing.
            done: is told of each job that succeeded, by any thread, one at a time.
        """
        raise NotImplementedError

    def remove(self, paths: Iterable[str]) -> Tally:
        """Delete objects in batches; an object that does not exist counts as deleted."""
        raise NotImplementedError

    def list(self, prefix: str, *, presign: bool = False) -> Iterator[ObjectStats]:
        """Yield all objects below a prefix, by name; with presign, with URLs to their content."""
        raise NotImplementedError
