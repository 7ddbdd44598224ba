"""The sample files: the same bytes for the same repository and branch names."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from io import StringIO

from msgspec import Struct

from graveler.parquet import ParquetWriter, int64_column, text_column
from graveler.samples.lakes import LAKES

_COLUMNS = ("Lake_name", "Country", "Depth_m", "Area_km2")

_README = """\
# {repository}

A repository to try things on. `lakes.parquet` has some lakes of the world, `data/lakes.csv` the
same as text, `data/countries.json` how many of them each country has. All of it is committed to
the branch `{branch}`, which is protected: changes come to it by merges.

## Look around

    lakectl fs ls lakefs://{repository}/{branch}/
    lakectl log lakefs://{repository}/{branch}

    # pip install lakefs-spec pandas pyarrow
    import pandas
    lakes = pandas.read_parquet("lakefs://{repository}/{branch}/lakes.parquet")
    print(lakes.groupby("Country").size().sort_values())

## Change something, on a branch

    lakectl branch create lakefs://{repository}/denmark --source lakefs://{repository}/{branch}

    lakes[lakes.Country == "Denmark"].to_parquet("lakefs://{repository}/denmark/lakes.parquet")

    lakectl diff lakefs://{repository}/denmark
    lakectl commit lakefs://{repository}/denmark -m "Lakes of Denmark"

The branch `{branch}` still has all lakes, and nobody who reads it saw a change.

## Merge, or throw it away

    lakectl diff lakefs://{repository}/{branch} lakefs://{repository}/denmark
    lakectl merge lakefs://{repository}/denmark lakefs://{repository}/{branch}

    lakectl branch delete lakefs://{repository}/denmark

A merge can be taken back, by a branch as well:

    lakectl branch create lakefs://{repository}/undo --source lakefs://{repository}/{branch}
    lakectl branch revert lakefs://{repository}/undo {branch} --parent-number 1
    lakectl merge lakefs://{repository}/undo lakefs://{repository}/{branch}

To write to `{branch}` directly, take its protection away:
`lakectl branch-protect delete lakefs://{repository} {branch}`.
"""


class SampleFile(Struct, frozen=True):
    """One file of the sample."""

    path: bytes
    content: bytes
    content_type: str


def sample_files(repository: str, branch: str) -> Iterator[SampleFile]:
    """Yield the files for a repository with that name and that default branch, by path."""
    readme = _README.format(repository=repository, branch=branch)
    yield SampleFile(b"README.md", readme.encode(), "text/markdown")
    yield SampleFile(b"data/countries.json", _countries(), "application/json")
    yield SampleFile(b"data/lakes.csv", _csv(), "text/csv")
    yield SampleFile(b"lakes.parquet", _parquet(), "application/vnd.apache.parquet")


def _countries() -> bytes:
    depths: dict[str, list[int]] = defaultdict(list)
    for lake in LAKES:
        depths[lake.country].append(lake.depth_m)
    rows = [
        {"Country": country, "Lakes": len(found), "Deepest_m": max(found)}
        for country, found in sorted(depths.items())
    ]
    return json.dumps(rows, indent=2).encode() + b"\n"


def _csv() -> bytes:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *LAKES])
    return text.getvalue().encode()


def _parquet() -> bytes:
    names, countries, depths_m, areas_km2 = zip(*LAKES, strict=True)
    writer = ParquetWriter()
    writer.add_rows(
        [
            text_column(_COLUMNS[0], names),
            text_column(_COLUMNS[1], countries),
            int64_column(_COLUMNS[2], depths_m),
            int64_column(_COLUMNS[3], areas_km2),
        ]
    )
    return writer.finish()
