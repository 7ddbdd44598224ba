"""Exports in stretches of keys: whoever carries them out, and dies, the destination is the same.

The function alone exports a commit, and another one after it: that is what must come out. The same
is then done by jobs and functions in turns, each of which dies after some calls to the stores, or
finds objects that cannot be written. The witness of `tests.support.export_world` looks at every
write.
"""

from collections.abc import Mapping
from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graveler.errors import ConflictError
from graveler.operations.exports import requests
from tests.support.export_jobs import attempt, commit, finish, outcome, refuse
from tests.support.export_world import MARK, REPO, export_world

DIRECTORIES = ["", "a/", "a/b/", "a/c/", "b/", "c/d/", "c/d/e/"]
NAMES = [*"123_", MARK]  # a branch may have an object that is called like a mark
KEYS = st.sampled_from([f"{directory}{name}" for directory in DIRECTORIES for name in NAMES])
CONTENTS = st.dictionaries(KEYS, st.sampled_from([b"A", b"B"]), min_size=1, max_size=24)
# Marks everywhere, in some directories, with objects that come last in theirs: the middle ones too.
PATTERNS = st.lists(
    st.sampled_from([".*", "^$", "^a/", "/$", "_$", "2$", "^c/d/2", "^1"]), max_size=3, unique=True
)
ATTEMPTS = st.lists(
    st.tuples(
        st.sampled_from([True, True, False]),
        st.integers(20, 200),
        st.just(set()) | st.sets(KEYS, max_size=2),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=max(200, settings.default.max_examples))
@given(
    first=CONTENTS,
    second=CONTENTS,
    patterns=PATTERNS,
    attempts=ATTEMPTS,
    step_s=st.sampled_from([1, 2, 4]),
    by_job=st.booleans(),
    has_status=st.booleans(),
)
@example(  # dies while it tells that it has failed
    first={"c/d/e/1": b"A", "_": b"A"},
    second=dict.fromkeys(["1", "2", "3", "a/2", "a/3", "a/b/1", "a/c/1", "a/c/3", "c/d/1"], b"A"),
    patterns=[".*"],
    attempts=[(True, 85, {"c/d/e/1"})],
    step_s=1,
    by_job=False,
    has_status=False,
)
def test_exports_in_stretches_that_die_end_as_those_of_one_runner(
    first: Mapping[str, bytes],
    second: Mapping[str, bytes],
    patterns: list[str],
    attempts: list[tuple[bool, int, set[str]]],
    step_s: int,
    by_job: bool,
    has_status: bool,
) -> None:
    told = []
    for is_disturbed in (False, True):
        world = export_world(raggedness=2)
        commit(world, first, {})
        status_path = "s3://out/status" if has_status else ""
        world.configure(patterns=tuple(patterns), status_path=status_path)
        world.settle()
        commit(world, second, first)
        with suppress(ConflictError):  # nothing to export
            requests.run(world.engine(), REPO, "main")
        # Time that goes by between two calls has runners store how far they are.
        world.world.clock.step_ns = step_s * 10**9 + 10**6
        for number, (is_job, calls_max, refused) in enumerate(attempts if is_disturbed else ()):
            refuse(world, refused)
            world.world.clock.tick(100)
            attempt(world, is_job, f"attempt {number}", calls_max)
        finish(world, by_job and is_disturbed)
        told.append(outcome(world))
        # Who dies before the pieces are deleted leaves them.
        pieces = [uri for uri in world.objects.uris("s3://bucket") if "/exports/" in uri]
        assert is_disturbed or not pieces
    assert told[0] == told[1]
    assert any(uri.endswith(MARK) for uri in told[0]) or not patterns or ".*" not in patterns
