"""The file `.lakefs_ref.yaml`: what a linked folder mirrors. lakectl reads and writes it too."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graveler_cli.errors import CommandError
from graveler_cli.uris import PathUri

INDEX_NAME = ".lakefs_ref.yaml"
NEW_INDEX_NAME = f"{INDEX_NAME}.new"

CLONE, PULL, CHECKOUT, COMMIT = "clone", "pull", "checkout", "commit"

# The target of an interrupted operation; lakectl ignores both.
_TARGET_SOURCE, _TARGET_HEAD = "target_src", "target_head"


@dataclass(frozen=True)
class Index:
    """The path of a ref that a folder mirrors, and the commit that the ref had."""

    root: Path
    source: PathUri
    head: str
    # The operation that has begun but not ended, and its target.
    operation: str = ""
    target: "MirrorTarget | None" = None

    @property
    def base(self) -> PathUri:
        """The path at the commit that the folder was last equal to."""
        return replace(self.source, ref=self.head)

    @classmethod
    def find(cls, folder: Path) -> "Index":
        """Return the index of a folder, or of the nearest folder above that has one.

        Raises:
            CommandError: there is no index, or it is broken.
        """
        if not folder.exists():
            raise CommandError(f"{folder} does not exist")
        for each in (folder, *folder.parents):
            if (each / INDEX_NAME).exists():
                return cls.read(each)
        raise CommandError(
            f"{folder} is not linked to a lakeFS path, nor is a folder above: "
            "run graveler local init or clone"
        )

    @classmethod
    def read(cls, root: Path) -> "Index":
        """Return the index in a folder.

        Raises:
            CommandError: it cannot be read, or is broken.
        """
        # Imported late, because only these commands need it.
        import yaml  # noqa: PLC0415

        file = root / INDEX_NAME
        try:
            # The base loader leaves all values as texts: a commit's ID may look like a number.
            content = yaml.load(file.read_bytes(), Loader=yaml.BaseLoader)  # noqa: S506
            _require_texts(content)
            source = PathUri.parse(content["src"])
            target = None
            if content.get(_TARGET_HEAD):
                target = MirrorTarget(PathUri.parse(content[_TARGET_SOURCE]), content[_TARGET_HEAD])
            return cls(root, source, content["at_head"], content.get("active_operation"), target)
        except OSError as error:
            raise CommandError(f"cannot read {file}: {error.strerror}") from error
        except (yaml.YAMLError, TypeError, KeyError, AttributeError, CommandError) as error:
            line = " ".join(str(error).split())
            raise CommandError(
                f"{file} is broken ({line}): link the folder again with graveler local init --force"
            ) from error

    def write(self) -> None:
        """Replace the index, whole or not at all.

        Raises:
            CommandError: the folder cannot be written.
        """
        import yaml  # noqa: PLC0415

        texts = {"src": str(self.source), "at_head": self.head, "active_operation": self.operation}
        if self.target is not None:
            texts |= {_TARGET_SOURCE: str(self.target.source), _TARGET_HEAD: self.target.head}
        lines = [
            yaml.safe_dump({name: text}, allow_unicode=True, width=2**31)
            if text
            else f'{name}: ""\n'
            for name, text in texts.items()
        ]
        new = self.root / NEW_INDEX_NAME
        try:
            with new.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.root / INDEX_NAME)
        except OSError as error:
            raise CommandError(f"cannot write {new}: {error.strerror}") from error

    def began(self, operation: str, target: "MirrorTarget | None" = None) -> "Index":
        """Note that an operation to this target begins; return the index written."""
        index = replace(self, operation=operation, target=target)
        index.write()
        return index

    def ended(self, target: "MirrorTarget") -> "Index":
        """Note that the folder is at this target; return the index written."""
        index = Index(self.root, target.source, target.head)
        index.write()
        return index


@dataclass(frozen=True)
class MirrorTarget:
    """A path of a ref, and the ref's commit, that a folder is to mirror."""

    source: PathUri
    head: str

    @property
    def uri(self) -> PathUri:
        """The path at the commit."""
        return replace(self.source, ref=self.head)


def _require_texts(content: dict[str, object]) -> None:
    """Require a text for each value, and a commit.

    Raises:
        TypeError: there is another value.
    """
    if not all(isinstance(each, str) for each in content.values()) or not content["at_head"]:
        raise TypeError("a value is missing, or is not a text")


def linked_folders(root: Path) -> Iterator[Path]:
    """Yield the linked folders below a folder, by name, except below hidden ones.

    Raises:
        CommandError: a folder cannot be read.
    """

    def fail(error: OSError) -> None:
        raise CommandError(f"cannot read {error.filename}: {error.strerror}") from error

    for name, folders, files in os.walk(root, onerror=fail):
        if INDEX_NAME in files:
            folders.clear()  # nothing is linked below a linked folder
            yield Path(name)
        folders[:] = sorted(each for each in folders if not each.startswith("."))
