"""The records of a stored dump of refs, and the check before each use of it."""

from functools import partial

from graveler.branches.watching import Watching
from graveler.dump.check import Checked, check
from graveler.dump.files import RefsDump, read
from graveler.dump.records import BRANCHES, COMMITS, TAGS
from graveler.engine import Engine
from graveler.errors import CorruptDataError, GoneError
from graveler.layout import committed_uri
from graveler.model import Repository


class DumpContent:
    """The records of a dump; each call reads its file again."""

    def __init__(
        self, engine: Engine, repository: Repository, dumped: RefsDump, watching: Watching
    ) -> None:
        self._engine = engine
        self._watching = watching
        self._repository = repository
        self._dumped = dumped
        reader = partial(read, engine.committed, repository.storage_namespace)
        self.commits = partial(reader, dumped.commits_id, COMMITS)
        self.branches = partial(reader, dumped.branches_id, BRANCHES)
        self.tags = partial(reader, dumped.tags_id, TAGS)

    def check(self) -> Checked:
        """Read the whole dump and check it; return the facts that a restore needs.

        Raises:
            InvalidInputError: it is inconsistent.
            CorruptDataError: a file is damaged.
            GoneError: a file does not exist.
        """
        try:
            return check(self._watching(self.commits()), self.branches(), self.tags())
        except CorruptDataError as error:
            dumped = self._dumped
            for file_id in filter(None, (dumped.commits_id, dumped.branches_id, dumped.tags_id)):
                uri = committed_uri(self._repository.storage_namespace, file_id)
                if self._engine.objects.head(uri) is None:
                    raise GoneError(f"No data: there is no {uri}") from error
            raise
