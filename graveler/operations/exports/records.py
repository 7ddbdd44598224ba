"""The records of exports as requests and runners change them: new runs, and deletion."""

from graveler.engine import Engine
from graveler.export.record import BranchExport
from graveler.model import Branch, Repository
from graveler.operations.exports.pieces import delete_pieces


def new_run_id(engine: Engine, repository: Repository, branch: Branch) -> str:
    """Return a new ID for a run that exports the branch's head."""
    uid = engine.names.new_uid()
    return f"{repository.name}-{branch.name}-{branch.commit_id}-{uid}"


def delete_record(engine: Engine, repository: Repository, record: BranchExport) -> None:
    """Delete the export's record, and the pieces of its run.

    Raises:
        StaleVersionError: another writer changed the record.
    """
    engine.exports.delete_branch_export(repository, record)
    delete_pieces(engine, repository, record.run)
