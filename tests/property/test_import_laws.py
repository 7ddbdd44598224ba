"""Imports put exactly the listed objects at their destinations, however the work is cut."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes, apply_slice, assemble
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.entries import value_entry
from graveler.imports.changes import import_changes, is_whole, plan_import
from graveler.imports.keys import KeyInterval, outside, union
from graveler.imports.listing import records_after
from graveler.imports.parallel_listing import list_tree
from graveler.imports.request import ImportSource, SourceType, source_of
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    committed_in_memory,
    opened,
    read,
    write,
)
from tests.support.worlds.strategies import (
    breakings,
    paths,
    records,
    tight_breakings,
    values,
    wide_breakings,
    wide_records,
)

any_breaking = breakings | tight_breakings
intervals = st.lists(
    st.builds(KeyInterval.of_prefix, paths.map(lambda path: path[:3]) | st.just(b""))
    | st.builds(KeyInterval.of_key, paths),
    max_size=5,
)


def is_in(key: bytes, interval: KeyInterval) -> bool:
    return interval.start <= key and (interval.end is None or key < interval.end)


def among(key: bytes, all_intervals: Iterable[KeyInterval]) -> bool:
    return any(is_in(key, each) for each in all_intervals)


def imported_into(base: Records, imported: Records, replaced: Sequence[KeyInterval]) -> Records:
    """The model: what stays of the base, and the imported."""
    return {key: base[key] for key in base if not among(key, replaced)} | imported


@given(intervals, paths | st.just(b""), st.lists(paths, max_size=20))
def test_what_is_outside_of_an_interval_has_all_other_keys(
    some: list[KeyInterval], prefix: bytes, keys: list[bytes]
) -> None:
    excluded = KeyInterval.of_prefix(prefix)
    left = outside(some, excluded)
    for key in (*keys, prefix, *(each.start for each in some)):
        assert among(key, left) == (among(key, some) and not is_in(key, excluded))
    assert all(one.end is not None and one.end <= other.start for one, other in pairwise(left))


@given(intervals, st.lists(paths, max_size=20))
def test_a_union_is_disjoint_and_has_the_same_keys(
    some: list[KeyInterval], keys: list[bytes]
) -> None:
    joined = union(some)
    for one, other in pairwise(joined):
        assert one.end is not None
        assert one.end < other.start
    for key in keys:
        assert among(key, some) == among(key, joined)


@given(paths, paths)
def test_the_keys_of_a_prefix_are_those_that_begin_with_it(prefix: bytes, key: bytes) -> None:
    assert is_in(key, KeyInterval.of_prefix(prefix)) == key.startswith(prefix)
    assert is_in(key, KeyInterval.of_key(prefix)) == (key == prefix)


@given(records, records, intervals, any_breaking)
def test_an_import_is_what_dictionaries_say(
    base: Records, source: Records, replaced: list[KeyInterval], breaking: Breaking
) -> None:
    imported = {key: source[key] for key in source if among(key, replaced)}
    committed, _ = committed_in_memory(breaking)
    old, new = write(committed, base), write(committed, imported)
    made = apply_changes(committed, old, import_changes(new, old, replaced))
    expected = imported_into(base, imported, replaced)
    assert read(opened(committed, made.metarange_id)) == expected
    if breaking.bytes_max > 10_000 and expected != base:
        assert made.metarange_id == write(committed, expected).id
    if is_whole(old, replaced):
        assert read(new) == expected
    after = opened(committed, made.metarange_id)
    assert list(import_changes(new, after, replaced)) == []


@given(records, records, intervals, any_breaking, paths | st.just(b""), st.none() | paths)
def test_a_part_of_the_changes_is_that_part(
    base: Records,
    source: Records,
    replaced: list[KeyInterval],
    breaking: Breaking,
    start: bytes,
    end: bytes | None,
) -> None:
    imported = {key: source[key] for key in source if among(key, replaced)}
    committed, _ = committed_in_memory(breaking)
    new, old = write(committed, imported), write(committed, base)
    whole = list(import_changes(new, old, replaced))
    assert [key for key, _ in whole] == sorted({key for key, _ in whole})
    expected = [each for each in whole if start <= each[0] and (end is None or each[0] < end)]
    assert list(import_changes(new, old, replaced, start, end)) == expected


@given(
    wide_records(),
    st.dictionaries(st.integers(0, 1200).map(lambda n: b"k%05d" % n), values, max_size=300),
    st.lists(st.sampled_from([b"", b"k00", b"k002", b"k0051", b"k009"]), max_size=3),
    wide_breakings,
)
def test_an_import_in_slices_is_the_import(
    base: Records, source: Records, prefixes: list[bytes], breaking: Breaking
) -> None:
    replaced = [KeyInterval.of_prefix(prefix) for prefix in prefixes]
    committed, _ = committed_in_memory(breaking)
    imported = {key: value for key, value in source.items() if among(key, replaced)}
    new, old = write(committed, imported), write(committed, base)
    once = apply_changes(committed, old, import_changes(new, old, replaced))
    parts = list(plan_import(committed, new, old, replaced, slice_weight=1))
    assert parts[0].start == b""
    assert parts[-1].end is None
    results = [
        apply_slice(committed, old, part, import_changes(new, old, replaced, part.start, part.end))
        for part in parts
    ]
    assert assemble(committed, old, results) == once
    assert read(opened(committed, once.metarange_id)) == imported_into(base, imported, replaced)


@given(wide_records(), wide_breakings)
def test_ranges_outside_the_destinations_are_not_read(base: Records, breaking: Breaking) -> None:
    committed, files = committed_in_memory(breaking)
    replaced = [KeyInterval.of_prefix(b"k000")]
    imported = {b"k00042": b"\x02a\x02b"}
    old, new = write(committed, base), write(committed, imported)
    outside = {header.id for header in old.headers() if not header.min_key.startswith(b"k000")}
    fresh = Committed(files, breaking=breaking)
    files.reads.clear()
    reopened = [MetaRange(fresh, NAMESPACE, each.id) for each in (new, old)]
    list(import_changes(reopened[0], reopened[1], replaced))
    assert not outside & {file_id for _, file_id in files.reads}


# Listings


@given(
    st.sets(st.text(st.sampled_from("ab/-0"), min_size=1, max_size=6), max_size=40),
    st.sampled_from(["", "a", "a/", "b/a"]),
    st.text(st.sampled_from("ab/-0"), max_size=4),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_a_tree_that_is_listed_by_folders_is_the_same_list(
    keys: set[str], prefix: str, after: str, page: int, ahead: int
) -> None:
    objects = MemoryObjectStore()
    for key in keys:
        objects.put(f"s3://lake/{key}", key.encode(), "a/b")
    span = f"s3://lake/{prefix}", f"s3://lake/{after}"
    found = list_tree(objects, *span, page_objects=page, ahead_objects=ahead)
    assert list(found) == list(objects.list_objects(*span))


names = st.text(st.sampled_from("ab/é\U00010000"), min_size=1, max_size=4)
prefix_sources = st.builds(
    source_of,
    st.just(SourceType.PREFIX),
    st.sampled_from(["", "a", "a/", "b", "ab", "a/b"]).map("s3://lake/{}".format),
    st.sampled_from(["", "x", "x/", "x/y/", "a"]),
)
object_sources = st.builds(
    source_of,
    st.just(SourceType.OBJECT),
    st.sampled_from(["s3://lake/a", "s3://lake/fixed"]),
    st.sampled_from(["x", "x/y/b", "z"]),
)


def expected_listing(
    objects: MemoryObjectStore, sources: Sequence[ImportSource]
) -> dict[bytes, str]:
    """The model: each source over those before it."""
    found = {}
    for source in sources:
        if source.is_object:
            found[source.destination.encode()] = source.uri
            continue
        folder = source.uri[: source.uri.rindex("/") + 1]
        to = source.destination
        to += "/" if to and not to.endswith("/") else ""
        for uri in objects.uris(source.uri):
            found[(to + uri[len(folder) :]).encode()] = uri
    found.pop(b"", None)
    return found


@given(
    st.sets(names, max_size=12),
    st.lists(prefix_sources | object_sources, max_size=4),
    st.integers(1, 3),
    names | st.just(""),
)
def test_sources_are_one_listing_that_can_begin_anywhere(
    keys: set[str], sources: list[ImportSource], page: int, after: str
) -> None:
    objects = MemoryObjectStore()
    objects.page_amount = page
    for key in {*keys, "a", "fixed"}:
        objects.put(f"s3://lake/{key}", key.encode(), "a/b")
    expected = expected_listing(objects, sources)
    found = list(records_after(objects, sources, after.encode()))
    assert [(path, value_entry(value).address) for path, value in found] == sorted(
        (path, uri) for path, uri in expected.items() if path > after.encode()
    )
