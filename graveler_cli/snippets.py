"""Code that reads a path of a repository with other programs, ready to run.

All but the SDK read through the S3 gateway: the bucket is the repository, the key is REF/PATH. The
code has no secrets: it takes the key pair from the variables that its first lines name.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from graveler_cli.uris import PathUri

# What a file is, by the end of its name.
KINDS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "ndjson",
    ".ndjson": "ndjson",
}
OTHER = "bytes"
# What the files of a folder may be; "/" is any other folder.
FOLDERS = {"parquet": "parquet/", "csv": "csv/"}

_KEY_PAIR = "\n# The key pair is in the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
_ARROW = """\
from pyarrow import fs

lake = fs.S3FileSystem(endpoint_override={endpoint}, region="us-east-1")
"""
_OPENED = "with lake.open_input_stream({key}) as file:\n    "


@dataclass(frozen=True)
class _Program:
    """The code for a program: what comes first, and how each kind is read."""

    heading: str
    first: str
    reads: dict[str, str]


# The templates take the endpoint's parts, the URL of the path or of a folder's files, its key below
# s3://, and the names of the lakeFS URI.
PROGRAMS = {
    "duckdb": _Program(
        f"DuckDB, in Python.{_KEY_PAIR}",
        """\
import os

import duckdb

duckdb.execute(f\"""CREATE OR REPLACE SECRET lake (
    TYPE s3, ENDPOINT '{host}', USE_SSL {is_tls}, URL_STYLE 'path', REGION 'us-east-1',
    KEY_ID '{{os.environ["AWS_ACCESS_KEY_ID"]}}',
    SECRET '{{os.environ["AWS_SECRET_ACCESS_KEY"]}}')\""")
""",
        {
            "parquet": "print(duckdb.read_parquet({files}))\n",
            "csv": "print(duckdb.read_csv({files}))\n",
            "json": "print(duckdb.read_json({files}))\n",
            "ndjson": "print(duckdb.read_json({files}))\n",
            OTHER: 'print(duckdb.sql("SELECT content FROM read_blob(?)", params=[{files}]))\n',
        },
    ),
    "pandas": _Program(
        f"pandas, with pyarrow.{_KEY_PAIR}",
        f"import pandas as pd\n{_ARROW}",
        {
            "parquet": "print(pd.read_parquet({key}, filesystem=lake))\n",
            "csv": _OPENED + "print(pd.read_csv(file))\n",
            "json": _OPENED + "print(pd.read_json(file))\n",
            "ndjson": _OPENED + "print(pd.read_json(file, lines=True))\n",
            "csv/": "print(pd.concat(\n"
            "    pd.read_csv(lake.open_input_stream(each.path))\n"
            "    for each in lake.get_file_info(fs.FileSelector({key}, recursive=True))\n"
            '    if each.path.endswith(".csv")\n'
            "))\n",
        },
    ),
    # Folders are read as such: Polars's patterns find nothing below names that are not ASCII.
    "polars": _Program(
        f"Polars.{_KEY_PAIR}",
        """\
import polars as pl

options = {{
    "aws_endpoint_url": {endpoint},
    "aws_allow_http": "true",
    "aws_region": "us-east-1",
}}
""",
        {
            "parquet": "print(pl.scan_parquet({url}, storage_options=options).collect())\n",
            "csv": "print(pl.scan_csv({url}, storage_options=options).collect())\n",
            "ndjson": "print(pl.scan_ndjson({url}, storage_options=options).collect())\n",
        },
    ),
    "spark": _Program(
        f"Spark, with the package org.apache.hadoop:hadoop-aws in its Hadoop's version.{_KEY_PAIR}",
        """\
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.config("spark.hadoop.fs.s3a.endpoint", {endpoint})
    .config("spark.hadoop.fs.s3a.path.style.access", "true")
    .config("spark.hadoop.fs.s3a.connection.ssl.enabled", "{is_tls}")
    .getOrCreate()
)
""",
        {
            "parquet": "spark.read.parquet({s3a}).show()\n",
            "csv": "spark.read.csv({s3a}, header=True, inferSchema=True).show()\n",
            "json": "spark.read.json({s3a}, multiLine=True).show()\n",
            "ndjson": "spark.read.json({s3a}).show()\n",
            OTHER: 'spark.read.format("binaryFile").load({s3a}).show()\n',
        },
    ),
    "aws": _Program(
        f"AWS CLI.{_KEY_PAIR}",
        "export AWS_ENDPOINT_URL={shell_endpoint} AWS_DEFAULT_REGION=us-east-1\n",
        {OTHER: "aws s3 cp {shell_url} -\n", "/": "aws s3 ls --recursive {shell_url}\n"},
    ),
    "sdk": _Program(
        "The lakeFS SDK for Python.\n# It reads ~/.lakectl.yaml, or the variables LAKECTL_...",
        "import lakefs\n\nref = lakefs.repository({repository}).ref({ref})\n",
        {
            OTHER: 'with ref.object({path}).reader(mode="rb") as file:\n    print(file.read())\n',
            "/": "for each in ref.objects(prefix={path}):\n    print(each.path)\n",
        },
    ),
}


def kind_of(name: str) -> str:
    """Return the kind of a file by its name."""
    return next((kind for end, kind in KINDS.items() if name.lower().endswith(end)), OTHER)


def snippets(uri: PathUri, kind: str, endpoint: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each program that reads the kind, and its code.

    Args:
        uri: the path; that of a folder ends with a slash.
        kind: what is there, as `kind_of` says of a file; of a folder's files, "/" follows.
        endpoint: the S3 gateway.
    """
    parts = urlsplit(endpoint)
    is_tls = str(parts.scheme == "https").lower()
    key = f"{uri.repository}/{uri.ref}/{uri.path}"
    files = f"s3://{key}**/*.{kind[:-1]}" if kind.endswith("/") else f"s3://{key}"
    values = {
        "endpoint": _quoted(endpoint),
        "host": parts.netloc,
        "is_tls": is_tls,
        "key": _quoted(key),
        "files": _quoted(files),
        "url": _quoted(f"s3://{key}"),
        "s3a": _quoted(f"s3a://{key}"),
        "shell_endpoint": shlex.quote(endpoint),
        "shell_url": shlex.quote(f"s3://{key}"),
        "repository": _quoted(uri.repository),
        "ref": _quoted(uri.ref),
        "path": _quoted(uri.path),
    }
    for name, program in PROGRAMS.items():
        # A table is read as such, or else as bytes; a folder of tables as one, or else listed.
        found = (kind, kind.removesuffix("/"), "/") if kind.endswith("/") else (kind, OTHER)
        read = next((program.reads[each] for each in found if each in program.reads), "")
        if read:
            yield name, f"# {program.heading}\n{program.first}{read}".format_map(values)


def _quoted(text: str) -> str:
    """Return the literal in Python, in double quotes."""
    return json.dumps(text, ensure_ascii=False)
