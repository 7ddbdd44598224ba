"""`graveler tables`: the Iceberg tables of a ref, and how they differ."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from graveler_cli import completion, output, uncommitted
from graveler_cli.arguments import other_ref_argument, ref_argument, two_way_option
from graveler_cli.diffs import OF_BASE, OF_BRANCH, OF_REFS, change_line, named_refs
from graveler_cli.errors import CommandError
from graveler_cli.grammar import CommandGroup, option
from graveler_cli.schemas import Diff, MergeBase
from graveler_cli.session import CommandSession
from graveler_cli.tables import (
    ROOT,
    MetadataChange,
    NoSuchTableError,
    changed,
    changes_between,
    column_names,
    columns,
    current_snapshot,
    load,
    parsed_path,
    partitioning,
    shown_name,
    snapshots,
    sorting,
    summarized,
    summary_of,
    tables_at,
)
from graveler_cli.uris import SCHEME, RefUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

app = CommandGroup(help="Show the Iceberg tables of a ref, and how they differ.")

_WHOLE = {"added", "removed"}  # differences without changes

table_argument = partial(
    click.argument,
    metavar="TABLE",
    help="NAMESPACE.TABLE, such as sales.orders, or the path of its object.",
    shell_complete=completion.tables,
)


@app.command("ls")
@ref_argument("uri")
@click.argument("namespace", default="", help="Only the tables in it and below it.")
def ls(session: CommandSession, uri: str, namespace: str) -> None:
    """List the Iceberg tables of a ref, or of a namespace, by name."""
    session.output.table(
        ("Table", "Snapshot", "Updated"),
        tables_at(session.server, session.ref(uri), namespace),
        lambda each: (
            shown_name(each.path),
            (each.metadata or {}).get("iceberg-snapshot-id", "-"),
            output.local_time(each.mtime) if each.mtime else "-",
        ),
        expendable=("Updated",),
    )


@app.command("show")
@ref_argument("uri")
@table_argument("table")
def show(session: CommandSession, uri: str, table: str) -> None:
    """Show a table: its schema, partitions, sort order, current snapshot, refs and properties."""
    path = parsed_path(table)
    found = load(session.server, session.ref(uri), path)
    out = session.output
    if out.as_json:
        out.json(found)
        return
    metadata = found.content
    names, current = column_names(metadata), current_snapshot(metadata)
    fields = [
        ("Table", shown_name(path)),
        ("UUID", metadata.get("table-uuid", "-")),
        ("Format Version", metadata["format-version"]),
        ("Location", metadata["location"]),
        ("Metadata File", found.metadata_location),
        ("Updated", _time(metadata["last-updated-ms"])),
        ("Partition Spec", partitioning(metadata, names)),
        ("Sort Order", sorting(metadata, names)),
        ("Current Snapshot", current.get("snapshot-id", "-")),
    ]
    if current:
        fields += [
            ("Committed", _time(current["timestamp-ms"])),
            ("Operation", summarized(current, "operation")),
            ("Records", summarized(current, "total-records")),
            ("Data Files", summarized(current, "total-data-files")),
            ("Size", f"{summarized(current, 'total-files-size')} bytes"),
        ]
    for line in output.fields(fields):
        out.line(line)
    refs = {name: f"{ref['type']} {ref['snapshot-id']}" for name, ref in metadata["refs"].items()}
    for title, pairs in (("Refs", refs), ("Properties", metadata["properties"])):
        out.line(f"{title}:")
        for key, value in sorted(pairs.items()):
            out.line(f"\t{key} = {value}")
    out.line(f"Schema: {metadata['current-schema-id']}")
    out.table(
        ("ID", "Column", "Type", "Required", "Doc"),
        columns(metadata),
        lambda each: (
            each["id"],
            each["name"],
            each["type"],
            "required" if each["required"] else "optional",
            each.get("doc") or "",
        ),
    )


@app.command("log")
@ref_argument("uri")
@table_argument("table")
@option(
    "--amount",
    type=click.IntRange(min=0),
    default=0,
    help="How many snapshots to show; 0 is all of them.",
)
def log(session: CommandSession, uri: str, table: str, *, amount: int) -> None:
    """Show the snapshots of a table, newest first."""
    path = parsed_path(table)
    found = load(session.server, session.ref(uri), path).content
    session.output.table(
        ("Snapshot", "Time", "Operation", "Records", "Files", "Refs"),
        snapshots(found)[: amount or None],
        lambda each: (
            each["snapshot-id"],
            _time(each["timestamp-ms"]),
            summarized(each, "operation"),
            changed(each, "records"),
            changed(each, "data-files"),
            ", ".join(each["refs"]) or "-",
        ),
        expendable=("Time", "Files"),
    )


class TableDifference(Struct, frozen=True, omit_defaults=True):
    """A table that differs between two refs; error: why its metadata could not be compared."""

    type: str
    table: str
    path: str
    changes: list[MetadataChange] = []
    error: str = ""


@app.command("diff")
@ref_argument("uri")
@other_ref_argument("other_uri")
@table_argument("table", default="", metavar="[TABLE]")
@two_way_option
def diff(session: CommandSession, uri: str, other_uri: str, table: str, *, two_way: bool) -> None:
    """Show which tables differ, as `graveler diff`, and in what; with TABLE, all of one's changes.

    For two refs, show the changes of the second since their common commit. With --two-way, show all
    differences. For one branch, show its uncommitted changes.
    """
    if other_uri and not table and not (other_uri.startswith(SCHEME) or session.base_uri):
        other_uri, table = "", other_uri
    wanted = parsed_path(table) if table else ""
    prefix = wanted or ROOT
    refs = named_refs(session, uri, other_uri, two_way=two_way)
    server = session.server
    if refs is None:
        branch = session.branch(uri)
        session.output.line(f"Ref: {branch}")
        names = {"repository": branch.repository, "branch": branch.branch}
        found = server.each(OF_BRANCH, names, Diff, {"prefix": prefix})
        left, right = (RefUri(branch.repository, f"{branch.branch}{of}") for of in ("@", ""))
        named = [right]
    else:
        first, second, two_way = refs
        names = {"repository": first.repository, "left": first.ref, "right": second.ref}
        heads = server.ask("GET", OF_BASE, names, MergeBase)
        names |= {"left": heads.destination_commit_id, "right": heads.source_commit_id}
        query = {"prefix": prefix, "type": "two_dot" if two_way else "three_dot"}
        found = server.each(OF_REFS, names, Diff, query)
        base = heads.destination_commit_id if two_way else heads.base_commit_id
        left, right = (RefUri(first.repository, each) for each in (base, heads.source_commit_id))
        named = [second, first] if two_way else [second]
    compared = (
        _compared(server, left, right, each)
        for each in found
        if shown_name(each.path) and wanted in ("", each.path)
    )
    if session.output.items(compared, lambda each: _lines(session, each, is_whole=bool(wanted))):
        return
    if wanted:
        load(server, named[0], wanted)  # which says so if there is no such table
    for ref in named if refs else ():
        if hint := uncommitted.hint(server, ref, prefix):
            session.output.warn(f"hint: {hint}")


def _compared(server: "LakeClient", left: RefUri, right: RefUri, found: Diff) -> TableDifference:
    changes: list[MetadataChange] = []
    error = ""
    if found.type not in _WHOLE:
        try:
            before, after = (load(server, ref, found.path).content for ref in (left, right))
            changes = list(changes_between(before, after))
        except NoSuchTableError:
            error = "one side dropped it, or both created it"
        except CommandError as refused:  # the other tables are shown nevertheless
            error = refused.message
    return TableDifference(found.type, shown_name(found.path), found.path, changes, error)


def _lines(session: CommandSession, found: TableDifference, *, is_whole: bool) -> Iterator[str]:
    why = "" if found.type in _WHOLE else f": {found.error or summary_of(found.changes)}"
    yield change_line(session.output, found.type, f"{found.table}{why}")
    for each in found.changes if is_whole else ():
        yield f"\t{change_line(session.output, each.type, str(each))}"


def _time(unix_ms: int) -> str:
    return output.local_time(unix_ms // 1000)
