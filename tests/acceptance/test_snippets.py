"""`graveler fs snippet`: the code that it prints, run as it is by each of the programs."""

import io
import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.clients.spark_s3a import s3a_jars

pytestmark = pytest.mark.server

PROGRAMS = Path(sys.executable).parent


def parquet(word: str) -> bytes:
    """A table with the word, which can be read in the bytes too."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"word": [word]}), stream, compression="none")
    return stream.getvalue()


# By path: the content. Each has a word that no other has.
FILES = {
    "a 'b' ü/x y.parquet": parquet("one"),
    "a 'b' ü/it's \"ü\".csv": b"word\ntwo\n",
    "a 'b' ü/x.json": b'[{"word": "three"}]',
    "a 'b' ü/x.jsonl": b'{"word": "four"}\n{"word": "four"}\n',
    "a 'b' ü/x": b"five",
    "a/50%20 + #&=;$(id)`\\[日本]{1,2}*.csv": b"word\nnine\n",
    "tables/it's ü/six x.parquet": parquet("six"),
    "tables/it's ü/seven.parquet": parquet("seven"),
    "csv/it's ü/eight x.csv": b"word\neight\n",
}
TABLES = {"one", "two", "three", "four", "six", "seven", "eight", "nine"}
READ = {
    "duckdb": TABLES | {"five"},
    "pandas": TABLES,
    "polars": TABLES - {"three"},
    "spark": TABLES | {"five"},
    "aws": TABLES | {"five"},
    "sdk": TABLES | {"five"},
    "graveler": TABLES | {"five"},
}
IN_SHELL = {"aws", "graveler"}


@pytest.fixture
def environment(stack, tmp_path):
    return {
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
        "AWS_ACCESS_KEY_ID": stack.access_key_id,
        "AWS_SECRET_ACCESS_KEY": stack.secret_access_key,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@pytest.fixture
def codes(environment, repository, main):
    """By path, and by program: the code."""
    for path, content in FILES.items():
        main.object(path).upload(content)
    paths = [*(path for path in FILES if path.startswith("a")), "tables/it's ü", "csv/it's ü/"]
    found = {}
    for path in paths:
        uri = f"lakefs://{repository.id}/main/{path}"
        command = (PROGRAMS / "graveler", "fs", "snippet", "--json", uri)
        printed = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=300
        ).stdout
        assert environment["AWS_SECRET_ACCESS_KEY"] not in printed
        found[path] = json.loads(printed)
    return found


def prepared(program: str, environment: dict[str, str]) -> str:
    """Have what a program would fetch from the network; return what Python runs first."""
    if program == "spark":
        options = f"--jars {shlex.quote(s3a_jars())} --conf spark.ui.enabled=false"
        environment["PYSPARK_SUBMIT_ARGS"] = f"{options} --master local[1] pyspark-shell"
    if program == "duckdb":
        found = (path.locate() for path in files("duckdb-extension-httpfs") or ())
        extension = next(path for path in found if str(path).endswith(".duckdb_extension"))
        return f"import duckdb; duckdb.execute({f'''LOAD '{extension}';'''!r})\n"
    return ""


@pytest.mark.parametrize("program", READ)
def test_the_code_reads_files_and_folders_with_awkward_names(codes, environment, tmp_path, program):
    texts = [each[program] for each in codes.values() if program in each]
    first = prepared(program, environment)
    command = ["sh", "-ec"] if program in IN_SHELL else [sys.executable, "-c"]
    done = subprocess.run(
        [*command, first + "\n".join(texts)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    downloaded = (path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    shown = b"".join([done.stdout, *downloaded]).decode(errors="replace")
    shown = shown.replace(b"five".hex(" ").upper(), "five")  # as Spark shows bytes
    assert {word for word in READ["sdk"] if word in shown} == READ[program]
