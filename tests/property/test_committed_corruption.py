"""A damaged file of a repository: the right answer or CorruptDataError, whatever is asked."""

from collections.abc import Callable

import pytest

from graveler.committed.apply import apply_changes
from graveler.committed.store import Breaking, Committed
from graveler.diff.two_way import diff
from graveler.errors import CorruptDataError
from graveler.model import Change, MetaRangeID
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    applied,
    differences,
    opened,
    read,
    token_value,
    write,
)

BREAKING = Breaking(16)
LEFT: Records = {b"path/%03d" % n: token_value(f"v{n}") for n in range(80)}
CHANGES: list[Change] = [
    (b"path/000a", token_value("added")),
    (b"path/040", None),
    (b"path/041", token_value("changed")),
    (b"path/080", token_value("at the end")),
]
RIGHT = applied(LEFT, CHANGES)


def stored() -> tuple[dict[tuple[str, str], bytes], MetaRangeID, MetaRangeID]:
    files = MemoryCommittedFiles()
    committed = Committed(files, breaking=BREAKING)
    left = write(committed, LEFT)
    right = apply_changes(committed, left, CHANGES)
    return files.files, left.id, right.metarange_id


FILES, LEFT_ID, RIGHT_ID = stored()


def committed_with(files: dict[tuple[str, str], bytes]) -> Committed:
    memory = MemoryCommittedFiles()
    memory.files = dict(files)
    return Committed(memory, breaking=BREAKING)


def get_some(committed: Committed) -> None:
    metarange = opened(committed, LEFT_ID)
    for key in (b"", b"path/000", b"path/007x", b"path/033", b"path/079", b"z"):
        for _ in range(3):  # read, decoded, held
            assert metarange.get(key) == LEFT.get(key)


def read_all(committed: Committed) -> None:
    assert read(opened(committed, RIGHT_ID)) == RIGHT


def read_part(committed: Committed) -> None:
    part = dict(opened(committed, LEFT_ID).records(b"path/020", b"path/060"))
    assert part == {key: LEFT[key] for key in LEFT if b"path/020" <= key < b"path/060"}


def compare(committed: Committed) -> None:
    found = diff(opened(committed, LEFT_ID), opened(committed, RIGHT_ID))
    assert [(each.key, each.left, each.right) for each in found] == differences(LEFT, RIGHT)


def change(committed: Committed) -> None:
    files = committed._files
    assert isinstance(files, MemoryCommittedFiles)
    for name in FILES.keys() - {(NAMESPACE, file_id) for file_id in LEFT_FILES}:
        files.files.pop(name, None)  # what the change is to write
    made = apply_changes(committed, opened(committed, LEFT_ID), CHANGES)
    assert made.metarange_id == RIGHT_ID
    assert read(opened(committed_with(files.files | LEFT_CONTENT), RIGHT_ID)) == RIGHT


LEFT_FILES = {LEFT_ID, *(header.id for header in opened(committed_with(FILES), LEFT_ID).headers())}
LEFT_CONTENT = {name: content for name, content in FILES.items() if name[1] in LEFT_FILES}
QUESTIONS: list[Callable[[Committed], None]] = [get_some, read_all, read_part, compare, change]
each_question = pytest.mark.parametrize("question", QUESTIONS)


def right_or_corrupt(
    question: Callable[[Committed], None], name: tuple[str, str], content: bytes | None
) -> bool:
    """Whether the answer was right with this content of a file; False if it was reported."""
    files = {each: found for each, found in FILES.items() if each != name}
    if content is not None:
        files[name] = content
    try:
        question(committed_with(files))
    except CorruptDataError as e:
        if name[1] not in e.message:
            raise
        return False
    return True


@each_question
def test_what_was_not_damaged_answers(question):
    assert len(LEFT_FILES) > 4
    question(committed_with(FILES))


@each_question
def test_a_changed_byte_is_reported_or_harmless(question):
    reported = 0
    for number, name in enumerate(sorted(FILES)):
        for position in range(number % 17, len(FILES[name]), 17):
            damaged = bytearray(FILES[name])
            damaged[position] ^= (0x01, 0x80, 0xFF)[position % 3]
            reported += not right_or_corrupt(question, name, bytes(damaged))
    assert reported > 100


@each_question
def test_a_truncated_file_is_reported_or_not_asked(question):
    asked = {
        name for name in FILES if not right_or_corrupt(question, name, None)
    }  # a missing file is reported, too
    assert LEFT_ID in {file_id for _, file_id in asked} or question is read_all
    for name in asked:
        content = FILES[name]
        for length in range(0, len(content), 37):
            assert not right_or_corrupt(question, name, content[:length])


@each_question
def test_a_file_in_place_of_another_is_reported(question):
    """Both are good by themselves: what they hold is not what the metarange says."""
    ranges = sorted(name for name in FILES if name[1] not in {LEFT_ID, RIGHT_ID})
    for name, other in zip(ranges, ranges[1:] + ranges[:1], strict=True):
        right_or_corrupt(question, name, FILES[other])
    asked = [name for name in ranges if not right_or_corrupt(question, name, None)]
    for name in asked:
        other = next(each for each in ranges if each != name)
        assert not right_or_corrupt(question, name, FILES[other])
