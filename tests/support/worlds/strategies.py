"""Random names, paths, records and breakings for property tests."""

from hypothesis import strategies as st

from graveler.committed.store import Breaking
from tests.support.worlds.model import Records, token_value

# Few, so that they collide: one is the beginning of another, up to the colon.
branch_names = st.sampled_from(["main", "dev", "dev:joe"])
tag_names = st.sampled_from(["v1", "dev:v2.0", "é"])

# Few letters, so that keys collide; they include a delimiter, the least and the greatest byte.
paths = st.one_of(
    st.lists(st.sampled_from([b"a", b"b", b"/", b"\x00", b"\xff"]), min_size=1, max_size=4).map(
        b"".join
    ),
    st.integers(0, 60).map(lambda number: b"k%03d" % number),
    st.binary(min_size=1, max_size=6),
)

# Also equal content at different addresses.
_VALUES = [token_value(f"{content}@{address}") for content in "ABC" for address in "xyz"]
values = st.sampled_from(_VALUES)

records: st.SearchStrategy[Records] = st.dictionaries(paths, values, max_size=40)

# These break by key only; most ranges hold a few records.
breakings = st.integers(1, 5).map(Breaking)
# These also break by size.
tight_breakings = st.builds(
    Breaking, st.integers(1, 50), bytes_max=st.sampled_from([1, 150, 300, 1000])
)


@st.composite
def variants(draw: st.DrawFn, of: Records) -> Records:
    """Records that share most records with `of`."""
    changed = dict(of)
    for key in draw(st.lists(st.sampled_from(sorted(of)), max_size=8)) if of else ():
        if draw(st.booleans()):
            changed.pop(key, None)
        else:
            changed[key] = draw(values)
    if draw(st.booleans()) and of:
        begin, end = sorted(draw(st.tuples(*[st.sampled_from(sorted(of))] * 2)))
        changed = {key: value for key, value in changed.items() if not begin <= key < end}
    return changed | draw(st.dictionaries(paths, values, max_size=8))


# Ranges of several blocks: a block holds about twenty records.
wide_breakings = st.sampled_from([20, 90, 300, 10**6]).map(Breaking)


class Wide(Records):
    """Many records, which a failing test does not print."""

    def __repr__(self) -> str:
        return f"<{len(self)} records>"


def _number_key(number: int) -> bytes:
    return b"k%05d" % number


@st.composite
def wide_records(draw: st.DrawFn) -> Records:
    """Some hundred records under even numbers."""
    count = draw(st.integers(0, 500))
    return Wide({_number_key(2 * n): token_value(f"v{n}") for n in range(count)})


@st.composite
def wide_variants(draw: st.DrawFn, of: Records) -> Records:
    """Wide records with some changed, some added between or behind, some or many deleted."""
    changed = Wide(of)
    numbers = st.integers(0, 2 * len(of) + 10)
    for number in draw(st.lists(numbers, max_size=10)):
        changed[_number_key(number)] = draw(values)
    if draw(st.booleans()):
        begin = draw(numbers)
        end = begin + draw(st.sampled_from([1, 30, 200, 2000]))
        for key in [key for key in changed if _number_key(begin) <= key < _number_key(end)]:
            del changed[key]
    for number in draw(st.lists(numbers, max_size=5)):
        changed.pop(_number_key(number), None)
    return changed
