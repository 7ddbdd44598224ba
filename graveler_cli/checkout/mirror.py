"""The operations on a linked folder: compare, clone, pull, check out and commit.

An operation is noted in the index, with its target, before it changes anything. If it is
interrupted, the next run knows both commits: a file that equals neither was changed by the user.
All other differences are the operation's own work, which the next run continues.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from graveler_cli.checkout import git
from graveler_cli.checkout.differences import (
    Change,
    ChangeSpool,
    among,
    except_for,
    local_changes,
    merged,
)
from graveler_cli.checkout.index import CHECKOUT, CLONE, COMMIT, PULL, Index, MirrorTarget
from graveler_cli.checkout.remote import Remote
from graveler_cli.checkout.sync import Sync, SyncSummary
from graveler_cli.checkout.walk import walk
from graveler_cli.errors import CommandError
from graveler_cli.output import CommandOutput
from graveler_cli.schemas import Commit
from graveler_cli.uris import PathUri, RefUri

_CONFLICTS_MAX = 10  # in the message

_REMEDIES = {
    CLONE: "run graveler local clone again, or checkout, to get the rest",
    PULL: "run graveler local pull again",
    CHECKOUT: "run graveler local checkout again",
    COMMIT: "run graveler local commit again, or graveler local pull --force",
}


@dataclass
class Mirror:
    """A linked folder, its remote, and how changes are applied."""

    index: Index
    remote: Remote
    output: CommandOutput
    sync: Sync

    def status(self, *, is_local: bool) -> ChangeSpool:
        """Return the local changes; the remote ones too unless is_local.

        Raises:
            CommandError: an operation was interrupted, the folder cannot be read, or the server
                refused.
        """
        self.refuse_interrupted()
        mine = self._local(self.index.base)
        if is_local:
            return ChangeSpool(mine)
        changes = ChangeSpool(mine)
        self.output.line(f"diff '{self.index.base}' <--> '{self.index.source}'...")
        return ChangeSpool(merged(changes, self.remote.changes(self.index.base, self.index.source)))

    def refuse_interrupted(self) -> None:
        """Raise a CommandError if an operation was interrupted."""
        operation = self.index.operation
        if operation:
            raise CommandError(
                f"latest {operation} operation was interrupted, data may be incomplete: "
                f"{self._remedy}"
            )

    @contextmanager
    def cancelable(self) -> Iterator[None]:
        """Say how to go on if the block is interrupted.

        Raises:
            CommandError: it was interrupted after it had begun to change something.
        """
        try:
            yield
        except KeyboardInterrupt as error:
            if not self.index.operation:
                raise
            raise CommandError(
                f"operation was canceled, local data may be incomplete: {self._remedy}"
            ) from error

    def clone(self, *, is_again: bool) -> SyncSummary:
        """Download the objects of the folder's commit.

        Args:
            is_again: whether the folder has a part of them, which is kept.

        Raises:
            CommandError: as `status`.
        """
        self._begin()
        target = self._target()
        if is_again:
            missing = (
                each.undone() for each in self._compared(target.uri) if each.type == "removed"
            )
        else:
            listing = self.remote.listing(target.uri)
            missing = (Change("remote", "added", each.path, each) for each in listing)
        self.sync.download(missing, target.uri)
        return self._ended(target)

    def pull(self, *, force: bool) -> SyncSummary:
        """Apply the remote changes since the folder's commit.

        Args:
            force: replace local changes of files that changed on the remote, and keep the others.

        Raises:
            CommandError: there are local changes; or as `status`.
        """
        self._begin()
        if self.index.operation == PULL and self.index.target is not None:
            self._continue_pull(force=force)
        elif not force:
            self.refuse_interrupted()
        elif self.index.operation in {CLONE, CHECKOUT}:
            self._restore(self._target())
        elif self.index.target is not None:
            self._reach(self.index.target, force=True)
        if not force:
            self._refuse_changes(self._local(self.index.base))
        else:
            self.output.line()
            self.output.line(self._comparison(self.index.base))
        head = self.remote.head(self.index.source)
        target = MirrorTarget(self.index.source, head)
        base = self.index.base
        self.index = self.index.began(PULL, target)
        self.sync.to_folder(ChangeSpool(self.remote.changes(base, target.uri)), target.uri)
        return self._ended(target)

    def checkout(self, ref: RefUri | None, *, yes: bool, asks: bool = True) -> SyncSummary:
        """Make the folder equal to its commit, or to that of another ref.

        Args:
            ref: the other ref.
            yes: whether local changes may be lost without a question.
            asks: whether to ask at all; if not, the user has consented.

        Raises:
            Abort: the user did not consent.
            CommandError: as `status`.
        """
        self._begin()
        interrupted = self.index.target if self.index.operation == CHECKOUT else None
        target = interrupted or MirrorTarget(self.index.source, self.index.head)
        # Compare even if nothing is asked, because lakectl prints the comparison.
        if self._has_own_changes() and asks:
            self.output.line(
                "Uncommitted changes exist, "
                "the operation will revert all changes on local directory."
            )
            self.output.confirm("Proceed", yes=yes)
        if ref is not None:
            if ref.repository != self.index.source.repository:
                raise CommandError("invalid uri, ref repository doesn't match")
            source = replace(self.index.source, ref=ref.ref)
            target = MirrorTarget(source, self.remote.head(source))
            if target.head != self.index.head:
                self.output.line()
                self.output.line(self._comparison(target.uri))
        changes = ChangeSpool(each.undone() for each in self._compared(target.uri))
        self.index = self.index.began(CHECKOUT, target)
        self.sync.to_folder(changes, target.uri)
        return self._ended(target)

    def commit(
        self, message: str, metadata: Mapping[str, str], *, force: bool, yes: bool
    ) -> Commit | None:
        """Store the local changes on the branch and commit it; None if there are no changes.

        Args:
            message: the commit's message.
            metadata: the commit's metadata.
            force: commit other uncommitted changes of the branch as well.
            yes: continue, without a question, after another operation was interrupted.

        Raises:
            Abort: the user did not consent.
            CommandError: there are conflicts, or other uncommitted changes; or as `status`.
        """
        self._begin()
        is_again = self.index.operation == COMMIT
        self._confirm_interrupted(yes=yes or is_again)
        branch = self.index.source
        if self.index.target is not None and self.index.operation in {COMMIT, PULL}:
            self._reach(self.index.target, force=False)
        self.output.line()
        self.output.line(f"Getting branch: {branch.ref}")
        head = MirrorTarget(branch, self.remote.branch_head(branch))
        mine = ChangeSpool(self._local(self.index.base))
        changes = self._to_commit(mine, head, is_again=is_again)
        if not len(changes) and not (is_again and self.remote.has_uncommitted(branch)):
            self._note_nothing(head)
            return None
        if not force and self.remote.has_uncommitted_outside(branch):
            raise CommandError(
                f"Branch {branch.ref} contains uncommitted changes outside of local path "
                f"'{self.index.root}': to proceed, use the --force flag"
            )
        is_first = not is_again and head.head == self.index.head
        self.index = self.index.began(COMMIT, head)
        self.sync.to_folder(changes, head.uri)
        try:
            self.sync.to_branch(changes, branch)
        except CommandError:
            if is_first and self.sync.summary == SyncSummary():
                # The server refused everything, so nothing is interrupted: neither side changed.
                self._ended(head)
            raise
        for line in self.sync.summary.lines("Sync"):
            self.output.line(line)
        self.output.line("Finished syncing changes. Perform commit on branch...")
        if not len(mine) and not self.remote.has_uncommitted(branch):
            # The server will refuse an empty commit, but the folder has the others' changes.
            self._ended(head)
        commit = self.remote.commit(
            branch, message, {**metadata, **git.commit_metadata(self.index.root)}
        )
        self._get_others(mine, head, MirrorTarget(branch, commit.id))
        return commit

    def _begin(self) -> None:
        """Lock the folder, then read its index again: another process may have written it."""
        self.sync.begin()
        self.index = Index.read(self.index.root)

    def _to_commit(self, mine: ChangeSpool, head: MirrorTarget, *, is_again: bool) -> ChangeSpool:
        """Return the changes of both sides that are not yet applied.

        Raises:
            CommandError: there are conflicts.
        """
        if head.head == self.index.head:
            changes = mine
        else:
            self.output.line()
            self.output.line(f"diff '{head.uri}' <--> '{head.source}'...")
            changes = ChangeSpool(merged(mine, self.remote.changes(self.index.base, head.uri)))
        if is_again:
            # The interrupted run stored the files that the branch has already, committed or not.
            changes = ChangeSpool(among(changes, self._compared(head.source)))
        self._refuse_conflicts(each for each in changes if each.type == "conflict")
        return changes

    def _refuse_conflicts(self, found: Iterator[Change]) -> None:
        conflicts = [each.path for each in islice(found, _CONFLICTS_MAX + 1)]
        if conflicts:
            more = ", ..." if len(conflicts) > _CONFLICTS_MAX else ""
            names = ", ".join(conflicts[:_CONFLICTS_MAX])
            raise CommandError(
                "Conflicts found between local directory and remote in the following files: "
                f"{names}{more}"
            )

    def _note_nothing(self, head: MirrorTarget) -> None:
        if head.head == self.index.head:
            self.output.line()
            self.output.line("No changes")
        else:
            self.output.line("Local directory and remote branch are synced")
        if self.index.operation or head.head != self.index.head:
            self._ended(head)

    def _get_others(self, mine: ChangeSpool, head: MirrorTarget, committed: MirrorTarget) -> None:
        """Download the objects that other users stored on the branch before the commit."""
        others = ChangeSpool(except_for(self.remote.changes(head.uri, committed.uri), mine))
        if len(others):
            self.index = self.index.began(PULL, committed)
            self.sync.to_folder(others, committed.uri)
        self._ended(committed)

    def _reach(self, target: MirrorTarget, *, force: bool) -> None:
        """Download the rest of an interrupted operation; keep the user's other changes.

        Otherwise, the files that it downloaded would count as the user's changes.
        """
        due = ChangeSpool(
            among(self._compared(target.uri), self.remote.changes(self.index.base, target.uri))
        )
        if not force:
            self._refuse_conflicts(among(due, self._compared(self.index.base)))
        self.sync.to_folder(ChangeSpool(each.undone() for each in due), target.uri)
        self.index = replace(self.index, head=target.head).began(self.index.operation)

    def _continue_pull(self, *, force: bool) -> None:
        target = self._target()
        self.output.line(f"Continuing the pull of {target.uri}")
        left = ChangeSpool(self._compared(target.uri))
        if not force:
            self._refuse_changes(among(left, self._compared(self.index.base)))
        due = among(left, self.remote.changes(self.index.base, target.uri))
        self.sync.to_folder(ChangeSpool(each.undone() for each in due), target.uri)
        self._ended(target)

    def _restore(self, target: MirrorTarget) -> None:
        """Download the rest of an interrupted operation; keep added files."""
        changes = (each.undone() for each in self._compared(target.uri) if each.type != "added")
        self.sync.to_folder(ChangeSpool(changes), target.uri)
        self._ended(target)

    def _has_own_changes(self) -> bool:
        """Return whether there are changes that an interrupted operation did not make."""
        changes = self._local(self.index.base)
        if self.index.operation == CLONE:
            changes = (each for each in changes if each.type != "removed")
        elif self.index.operation and self.index.target is not None:
            changes = among(changes, self._compared(self.index.target.uri))
        return next(changes, None) is not None

    def _refuse_changes(self, changes: Iterator[Change]) -> None:
        count = sum(1 for _ in changes)
        if count:
            raise CommandError(
                f"there are {count} uncommitted changes. "
                "Either commit them first or use --force to revert local changes"
            )

    def _confirm_interrupted(self, *, yes: bool) -> None:
        if self.index.operation and not yes:
            self.output.line(
                f"Latest 'local {self.index.operation}' operation was interrupted, running "
                "'local commit' operation now might lead to data loss."
            )
            self.output.confirm("Proceed", yes=False)

    def _local(self, uri: PathUri) -> Iterator[Change]:
        """Print lakectl's line about the comparison, and return the local changes."""
        self.output.line()
        self.output.line(self._comparison(uri))
        return self._compared(uri)

    def _comparison(self, uri: PathUri) -> str:
        return f"diff 'local://{self.index.root}' <--> '{uri}'..."

    def _compared(self, uri: PathUri) -> Iterator[Change]:
        rules = self.remote.rules
        root = self.index.root
        return local_changes(walk(root, rules), self.remote.listing(uri), rules, root)

    @property
    def _remedy(self) -> str:
        if self.index.operation == PULL and self.index.target is None:  # lakectl began it
            return "run graveler local pull --force"
        return _REMEDIES.get(self.index.operation, "run graveler local checkout")

    def _target(self) -> MirrorTarget:
        return self.index.target or MirrorTarget(self.index.source, self.index.head)

    def _ended(self, target: MirrorTarget) -> SyncSummary:
        self.index = self.index.ended(target)
        return self.sync.summary
