"""Exports in slices of keys have the same result, whoever carries them out and crashes.

The function alone exports a commit and then another one: that is the expected result. Then jobs and
functions do the same in turns. Each of them crashes after some calls to the stores, or cannot write
some objects. The witness of `tests.support.worlds.export_world` checks every write.
"""

from collections.abc import Mapping

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graveler.operations.exports import requests
from tests.support.worlds.export_jobs import attempt, commit, finish, outcome, refuse
from tests.support.worlds.export_world import MARK, REPO, export_world

DIRECTORIES = ["", "a/", "a/b/", "a/c/", "b/", "c/d/", "c/d/e/"]
NAMES = [*"123_", MARK]  # a branch may have an object with the name of a mark
KEYS = st.sampled_from([f"{directory}{name}" for directory in DIRECTORIES for name in NAMES])
CONTENTS = st.dictionaries(KEYS, st.sampled_from([b"A", b"B"]), min_size=1, max_size=24)
# Marks everywhere, in some directories, and with objects set apart, also in the middle of one.
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


@settings(max_examples=settings().max_examples * 3)
@given(
    first=CONTENTS,
    second=CONTENTS,
    patterns=PATTERNS,
    attempts=ATTEMPTS,
    step_s=st.sampled_from([1, 2, 4]),
    by_job=st.booleans(),
    has_status=st.booleans(),
)
@example(  # crashes while it reports a failure
    first={"c/d/e/1": b"A", "_": b"A"},
    second=dict.fromkeys(["1", "2", "3", "a/2", "a/3", "a/b/1", "a/c/1", "a/c/3", "c/d/1"], b"A"),
    patterns=[".*"],
    attempts=[(True, 85, {"c/d/e/1"})],
    step_s=1,
    by_job=False,
    has_status=False,
)
def test_exports_in_slices_end_like_those_of_one_runner_even_after_crashes(
    first: Mapping[str, bytes],
    second: Mapping[str, bytes],
    patterns: list[str],
    attempts: list[tuple[bool, int, set[str]]],
    step_s: int,
    by_job: bool,
    has_status: bool,
) -> None:
    outcomes = []
    for is_disturbed in (False, True):
        world = export_world(raggedness=2)
        commit(world, first, {})
        status_path = "s3://out/status" if has_status else ""
        world.configure(patterns=tuple(patterns), status_path=status_path)
        world.settle()
        commit(world, second, first)
        requests.run(world.engine(), REPO, "main")
        # Runners store their progress when time passes between two calls.
        world.world.clock.step_ns = step_s * 10**9 + 10**6
        for number, (is_job, calls_max, refused) in enumerate(attempts if is_disturbed else ()):
            refuse(world, refused)
            world.world.clock.tick(100)
            attempt(world, is_job, f"attempt {number}", calls_max)
        finish(world, by_job and is_disturbed)
        outcomes.append(outcome(world))
        # A runner that crashes before it deletes the pieces leaves them.
        pieces = [uri for uri in world.objects.uris("s3://bucket") if "/exports/" in uri]
        assert is_disturbed or not pieces
    assert outcomes[0] == outcomes[1]
    assert any(uri.endswith(MARK) for uri in outcomes[0]) or not patterns or ".*" not in patterns
