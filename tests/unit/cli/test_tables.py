"""`graveler tables`: the Iceberg tables of a ref, and what differs between two refs."""

import json

import pytest

from graveler_cli.tables import changes_between, columns, summary_of
from tests.support.clients.answers import page
from tests.support.worlds import iceberg_tables as world

API = "/api/v1/repositories/lake"
ROOT = "_lakefs_tables/iceberg/namespaces"
ORDERS = f"{ROOT}/sales/tables/orders"
MAIN, DEV = "lakefs://lake/main", "lakefs://lake/dev"
FILE = f"{world.LOCATION}/metadata/00001-a.metadata.json"
HEADS = {"source_commit_id": "5e", "destination_commit_id": "de", "base_commit_id": "ba"}
SUMMARY = {
    "operation": "append",
    "added-records": "3",
    "deleted-records": "1",
    "added-data-files": "2",
    "total-records": "12",
    "total-data-files": "4",
    "total-files-size": "2048",
}


@pytest.fixture(autouse=True)
def _in_utc(time_zone):
    time_zone("UTC")


def stored(path, **metadata):
    row = {"path": path, "path_type": "object", "physical_address": FILE, "mtime": 1_700_000_000}
    return row | {"metadata": metadata}


def loaded(metadata):
    return {"metadata": metadata, "metadata-location": FILE, "config": {"s3.region": "x"}}


def committed(base, number=1, **summary):
    """Return the metadata after a snapshot of main with a summary."""
    added = world.snapshot(number, summary=SUMMARY | summary)
    return world.updated(base, world.add(added), world.set_ref(number))


def difference(kind, path=ORDERS):
    return {"type": kind, "path": path, "path_type": "object", "size_bytes": 1}


def refused(message, status=404):
    return {"error": {"message": message, "type": "NoSuchTableException", "code": status}}


# ls


def test_ls_lists_the_tables_of_all_namespaces(graveler, server):
    nested = f"{ROOT}/sales/namespaces/eu/tables/vat"
    dotted = f"{ROOT}/sales/tables/v1.0"
    snapshot = {"iceberg-snapshot-id": "7"}
    rows = [stored(f"{ROOT}/sales/namespace.json"), stored(nested), stored(ORDERS, **snapshot)]
    server.will_answer(page(*rows, stored(dotted)))
    time = "2023-11-14 22:13:20 +0000 UTC"
    assert graveler.prints("tables", "ls", MAIN) == (
        f"sales.eu.vat\t-\t{time}\nsales.orders\t7\t{time}\n{dotted}\t-\t{time}\n"
    )
    asked = f"{API}/refs/main/objects/ls?amount=1000&prefix=_lakefs_tables%2Ficeberg%2F"
    assert server.asked[0].path == asked
    printed = graveler.prints("tables", "ls", MAIN, "--json").splitlines()
    assert [json.loads(line)["path"] for line in printed] == [nested, ORDERS, dotted]


def test_ls_of_a_namespace_asks_for_its_folder(graveler, server):
    server.will_answer(page(stored(f"{ROOT}/sales/namespaces/eu/namespace.json")))
    assert graveler.prints("tables", "ls", MAIN, "sales.eu") == ""
    folder = f"{ROOT}/sales/namespaces/eu/".replace("/", "%2F")
    assert server.asked[0].path.endswith(f"prefix={folder}")


def test_a_wrong_namespace_is_an_error_that_says_what_to_do(graveler, server):
    server.will_answer(page())
    assert graveler.fails("tables", "ls", MAIN, "nope") == (
        f"namespace 'nope' does not exist at {MAIN}: `graveler tables ls {MAIN}` lists all tables"
    )
    assert graveler.prints("tables", "ls", MAIN) == ""
    assert "namespace '' is invalid" in graveler.fails("tables", "ls", MAIN, "sales..eu")


def test_ls_of_system_has_the_table_that_nobody_writes(graveler, server):
    server.will_answer(page())
    assert graveler.prints("tables", "ls", MAIN, "system") == "system.objects\t-\t-\n"


# show


def test_show_has_all_that_people_ask_of_a_table(graveler, server):
    base = world.table(
        schema=world.schema(world.column(4, "x\x1b[31m", "string") | {"doc": "the\x07 end"}),
        partition_spec=world.spec((2, "day", "at_day")),
        write_order=world.order(1),
        properties={"owner": "ann"},
    )
    server.will_answer(loaded(committed(base)))
    assert graveler.prints("tables", "show", MAIN, "sales.orders") == (
        f"Table: sales.orders\nUUID: {world.UUID}\nFormat Version: 2\nLocation: {world.LOCATION}\n"
        f"Metadata File: {FILE}\nUpdated: 2023-11-14 22:14:20 +0000 UTC\n"
        "Partition Spec: day(at) as at_day\nSort Order: identity(id) asc nulls-first\n"
        "Current Snapshot: 1\nCommitted: 2023-11-14 22:13:21 +0000 UTC\nOperation: append\n"
        "Records: 12\nData Files: 4\nSize: 2048 bytes\n"
        "Refs:\n\tmain = branch 1\nProperties:\n\towner = ann\n"
        "\twrite.parquet.compression-codec = zstd\n"
        "Schema: 0\n1\tid\tlong\trequired\t\n2\tat\ttimestamp\toptional\t\n"
        "3\tname\tstring\toptional\t\n4\tx\\x1b[31m\tstring\toptional\tthe\\x07 end\n"
    )


def test_show_as_json_is_the_table_without_a_client_s_configuration(graveler, server):
    metadata = world.table()
    server.will_answer(loaded(metadata))
    printed = json.loads(graveler.prints("tables", "show", MAIN, "sales.orders", "--json"))
    assert printed == {"metadata": metadata, "metadata-location": FILE}
    assert server.asked[0].headers["Accept-Encoding"] == "gzip"  # some answers are too large else


def test_an_empty_table_is_shown(graveler, server):
    server.will_answer(loaded(world.table()))
    printed = graveler.prints("tables", "show", MAIN, "sales.orders")
    assert "Partition Spec: none\nSort Order: none\nCurrent Snapshot: -\nRefs:\n" in printed


@pytest.mark.parametrize("metadata", [None, [], {}, {"format-version": 9}, {"format-version": 2}])
def test_what_is_no_metadata_is_named_and_printed_as_json(graveler, server, metadata):
    server.will_answer(loaded(metadata))
    words = ("tables", "show", MAIN, "sales.orders")
    assert graveler.fails(*words).startswith(f"cannot read {FILE}: ")
    assert json.loads(graveler.prints(*words, "--json"))["metadata"] == metadata


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("sales.orders", "sales/tables/orders"),
        ("sales.eu.a%41 b", "sales%1Feu/tables/a%2541%20b"),
        (f"{ROOT}/sales/tables/v1.0", "sales/tables/v1.0"),
    ],
)
def test_a_table_is_asked_for_at_the_catalog_of_its_ref(graveler, server, table, asked):
    server.will_answer(loaded(world.table()))
    graveler.prints("tables", "log", "lakefs://lake/dev~1", table)
    catalog = "/iceberg/relative_to/lake.dev~1/api/v1/namespaces"
    assert server.asked[0].path == f"{catalog}/{asked}"


def test_a_missing_table_is_an_error_that_says_what_to_do(graveler, server):
    server.will_answer(refused("Table does not exist: sales.nope"), status=404)
    assert graveler.fails("tables", "log", MAIN, "sales.nope") == (
        f"table 'sales.nope' does not exist at {MAIN}: `graveler tables ls {MAIN}` lists all tables"
    )


def test_a_refusal_of_the_catalog_is_shown_in_its_words(graveler, server):
    server.will_answer(refused("not found: no branch 'nope'"), status=404)
    shown = graveler.fails("tables", "show", "lakefs://lake/nope", "sales.orders")
    assert shown == "not found: no branch 'nope'"


@pytest.mark.parametrize("table", ["orders", "sales.", ".orders", "sales..orders", "sales.a\x1b"])
def test_what_names_no_table_is_refused(graveler, server, table):
    assert graveler.fails("tables", "show", MAIN, table).endswith(
        "; write a table like sales.orders"
    )
    assert not server.asked


# log


def test_log_shows_snapshots_newest_first_with_their_refs(graveler, server):
    found = committed(committed(world.table()), 2, operation="overwrite")
    server.will_answer(loaded(world.updated(found, world.set_ref(2, "v1", "tag"))))
    words = ("tables", "log", MAIN, "sales.orders")
    time = "2023-11-14 22:13:2{} +0000 UTC"
    newest = f"2\t{time.format(2)}\toverwrite\t+3 -1\t+2 -0\tmain, v1\n"
    assert graveler.prints(*words) == (f"{newest}1\t{time.format(1)}\tappend\t+3 -1\t+2 -0\t-\n")
    assert graveler.prints(*words, "--amount", "1") == newest
    as_json = [json.loads(line) for line in graveler.prints(*words, "--json").splitlines()]
    assert [(each["snapshot-id"], each["refs"]) for each in as_json] == [
        (2, ["main", "v1"]),
        (1, []),
    ]


# What differs


def changed_texts(left, right):
    found = list(changes_between(left, right))
    return [f"{each.type} {each}" for each in found], summary_of(found)


def test_columns_are_compared_by_their_ids_at_any_depth():
    lines = {
        "type": "list",
        "element-id": 5,
        "element": {"type": "struct", "fields": [world.column(6, "sku", "string")]},
        "element-required": True,
    }
    scores = {"type": "map", "key-id": 8, "key": "string"}
    scores |= {"value-id": 9, "value": "int", "value-required": False}
    nested = world.column(4, "lines", lines), world.column(7, "scores", scores)
    base = world.table(partition_spec=world.spec((3, "identity", "p")))
    old = {**base, "schemas": [world.schema(*nested)]}
    assert [(each["id"], each["name"], each["type"]) for each in columns(old)][3:] == [
        (4, "lines", "list"),
        (5, "lines.element", "struct"),
        (6, "lines.element.sku", "string"),
        (7, "scores", "map"),
        (8, "scores.key", "string"),
        (9, "scores.value", "int"),
    ]
    fields = [
        world.column(1, "id", "long"),
        world.column(3, "label", "string") | {"doc": "short"},
        world.column(4, "lines", "string"),
        world.column(10, "new", "date", required=True),
    ]
    new = {**base, "schemas": [{**world.schema(), "fields": fields}]}
    assert changed_texts(old, new) == (
        [
            "changed column 1: id long required -> id long",
            "removed column 2: at timestamp",
            "changed column 3: name string -> label string (short)",
            "changed column 4: lines list -> lines string",
            "removed column 5: lines.element struct required",
            "removed column 6: lines.element.sku string",
            "removed column 7: scores map",
            "removed column 8: scores.key string required",
            "removed column 9: scores.value int",
            "added column 10: new date required",
        ],
        "columns +1 -6 ~3",  # and not the partition spec, whose column was renamed
    )


def test_everything_else_that_differs_is_said_once():
    base = committed(world.table())
    left = committed(base, 2)
    right = world.updated(base, world.set_ref(1, "v1", "tag"))
    other = world.table(partition_spec=world.spec((2, "day", "d")), write_order=world.order(1))
    layout = {
        name: other[name]
        for name in ("partition-specs", "default-spec-id", "sort-orders", "default-sort-order-id")
    }
    right = committed({**right, **layout, "properties": {"owner": "bob", "new": "2"}}, 3)
    left = {**left, "properties": {"owner": "ann", "old": "1"}}
    right = {**right, "table-uuid": "0" + world.UUID[1:]}
    right["snapshots"][-1]["summary"]["total-records"] = "13"
    assert changed_texts(left, right) == (
        [
            f"changed UUID: {world.UUID} -> 0{world.UUID[1:]}",
            "changed partition spec: none -> day(at) as d",
            "changed sort order: none -> identity(id) asc nulls-first",
            "removed snapshot 2: append, records +3 -1, files +2 -0",
            "added snapshot 3: append, records +3 -1, files +2 -0",
            "changed ref main: branch 2 -> branch 3",
            "added ref v1: tag 1",
            "changed records: 12 -> 13",
            "changed property owner: ann -> bob",
            "removed property old: 1",
            "added property new: 2",
        ],
        ", ".join(
            [
                f"UUID: {world.UUID} -> 0{world.UUID[1:]}",
                "partition spec: none -> day(at) as d",
                "sort order: none -> identity(id) asc nulls-first",
                "snapshots +1 -1",
                "refs +1 ~1",
                "records: 12 -> 13",
                "properties +1 -1 ~1",
            ]
        ),
    )
    assert changed_texts(left, left) == ([], "other metadata")


def test_diff_loads_only_tables_that_both_sides_have(graveler, server):
    marker = difference("added", f"{ROOT}/sales/namespace.json")
    gone = difference("removed", f"{ROOT}/sales/tables/old")
    new = difference("added", f"{ROOT}/sales/tables/new")
    found = page(marker, new, gone, difference("changed"))
    base = world.table()
    server.will_answer(HEADS, found, loaded(base), loaded(committed(base)))
    assert graveler.prints("tables", "diff", MAIN, DEV) == (
        f"Left ref: {MAIN}\nRight ref: {DEV}\n+ added sales.new\n- removed sales.old\n"
        "~ modified sales.orders: snapshots +1, refs +1, records: 0 -> 12\n"
    )
    catalog = "/iceberg/relative_to/lake.{}/api/v1/namespaces/sales/tables/orders"
    assert [asked.path for asked in server.asked] == [
        f"{API}/refs/dev/merge/main",
        f"{API}/refs/de/diff/5e?amount=1000&prefix=_lakefs_tables%2Ficeberg%2F&type=three_dot",
        catalog.format("ba"),
        catalog.format("5e"),
    ]


def test_diff_of_a_table_shows_each_change(graveler, server):
    base = world.table()
    longer = difference("changed", f"{ORDERS}_2")
    answers = (HEADS, page(difference("conflict"), longer), loaded(base), loaded(committed(base)))
    server.will_answer(*answers, *answers)
    words = ("tables", "diff", "lakefs://lake/main..dev", "sales.orders")
    assert graveler.prints(*words) == (
        f"Left ref: {MAIN}\nRight ref: {DEV}\n"
        "* conflict sales.orders: snapshots +1, refs +1, records: 0 -> 12\n"
        "\t+ added snapshot 1: append, records +3 -1, files +2 -0\n"
        "\t+ added ref main: branch 1\n"
        "\t~ modified records: 0 -> 12\n"
    )
    assert server.asked[1].path.endswith(f"prefix={ORDERS.replace('/', '%2F')}&type=two_dot")
    assert "/iceberg/relative_to/lake.de/" in server.asked[2].path
    printed = json.loads(graveler.prints(*words, "--json"))
    assert (printed["type"], printed["table"], printed["path"]) == (
        "conflict",
        "sales.orders",
        ORDERS,
    )
    assert printed["changes"][2] == {
        "type": "changed",
        "kind": "records",
        "left": "0",
        "right": "12",
    }


def test_diff_says_why_a_conflict_has_no_changes_to_show(graveler, server):
    server.will_answer(HEADS, page(difference("conflict")), loaded(world.table()))
    server.will_answer(refused("Table does not exist: sales.orders"), status=404)
    server.will_answer(*(page(), page()))
    said = graveler.prints("tables", "diff", "lakefs://lake/main", "lakefs://lake/dev")
    assert "* conflict sales.orders: one side dropped it, or both created it\n" in said


def test_diff_of_a_branch_shows_what_is_not_committed(graveler, server):
    base = world.table()
    answers = page(difference("changed")), loaded(base), loaded(committed(base))
    server.will_answer(*answers, *answers)
    line = "~ modified sales.orders: snapshots +1, refs +1, records: 0 -> 12\n"
    assert graveler.prints("tables", "diff", DEV) == f"Ref: {DEV}\n{line}"
    assert graveler.prints("tables", "diff", DEV, "sales.orders").startswith(
        f"Ref: {DEV}\n{line}\t"
    )
    assert [asked.path.partition("/api/v1/")[0] for asked in server.asked[1:3]] == [
        "/iceberg/relative_to/lake.dev%40",
        "/iceberg/relative_to/lake.dev",
    ]


def test_diff_takes_refs_below_the_base_uri(graveler, server):
    server.will_answer(HEADS, page(difference("added")))
    words = ("--base-uri", "lakefs://lake/", "tables", "diff", "main", "v1.0", "sales.orders")
    assert graveler.prints(*words).endswith("lakefs://lake/v1.0\n+ added sales.orders\n")


def test_a_table_that_cannot_be_compared_is_shown_with_the_others(graveler, server):
    found = page(difference("changed"), difference("added", f"{ROOT}/sales/tables/new"))
    server.will_answer(HEADS, found, loaded({"format-version": 2}), loaded(world.table()))
    printed = graveler.prints("tables", "diff", MAIN, DEV).splitlines()
    assert printed[2].startswith(f"~ modified sales.orders: cannot read {FILE}: ")
    assert printed[3] == "+ added sales.new"


def test_diff_that_finds_nothing_hints_at_uncommitted_changes(graveler, server):
    server.will_answer(HEADS, page(), page(difference("changed")))
    done = graveler.run("tables", "diff", MAIN, DEV)
    assert (done.exit_code, done.stdout) == (0, f"Left ref: {MAIN}\nRight ref: {DEV}\n")
    assert done.stderr.startswith("hint: dev has 1 uncommitted change")


def test_diff_of_a_table_that_does_not_exist_fails(graveler, server):
    server.will_answer(page())
    server.will_answer(refused("Table does not exist: sales.nope"), status=404)
    done = graveler.run("tables", "diff", DEV, "sales.nope")
    assert (done.exit_code, done.stdout) == (1, f"Ref: {DEV}\n")
    assert done.stderr.startswith(f"error: table 'sales.nope' does not exist at {DEV}: ")
