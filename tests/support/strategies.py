"""Random paths, records and breakings for property tests."""

from hypothesis import strategies as st

from graveler.committed.store import Breaking
from tests.support.model import Records, token_value

# Few letters, so that keys meet: a delimiter, the least and the greatest byte among them.
paths = st.one_of(
    st.lists(st.sampled_from([b"a", b"b", b"/", b"\x00", b"\xff"]), min_size=1, max_size=4).map(
        b"".join
    ),
    st.integers(0, 60).map(lambda number: b"k%03d" % number),
    st.binary(min_size=1, max_size=6),
)

# Equal content at different addresses, too.
_VALUES = [token_value(f"{content}@{address}") for content in "ABC" for address in "xyz"]
values = st.sampled_from(_VALUES)

records: st.SearchStrategy[Records] = st.dictionaries(paths, values, max_size=40)

# Keys alone decide where these break; most ranges have a few records.
breakings = st.integers(1, 5).map(Breaking)
# These also break by size.
tight_breakings = st.builds(
    Breaking, st.integers(1, 50), bytes_max=st.sampled_from([1, 150, 300, 1000])
)


@st.composite
def variants(draw: st.DrawFn, of: Records) -> Records:
    """Records that share most of theirs with others."""
    changed = dict(of)
    for key in draw(st.lists(st.sampled_from(sorted(of)), max_size=8)) if of else ():
        if draw(st.booleans()):
            changed.pop(key, None)
        else:
            changed[key] = draw(values)
    if of and draw(st.booleans()):
        begin, end = sorted(draw(st.tuples(*[st.sampled_from(sorted(of))] * 2)))
        changed = {key: value for key, value in changed.items() if not begin <= key < end}
    return changed | draw(st.dictionaries(paths, values, max_size=8))
