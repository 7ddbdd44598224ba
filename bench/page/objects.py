"""One object for each preview of the page."""

import json
import struct
import zlib
from collections.abc import Mapping
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq


def examples() -> Mapping[str, tuple[str, bytes]]:
    """Return the path and the content of an object for each preview, by the preview's name."""
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["# Sales\n"]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return {
        "Parquet": ("orders.parquet", _parquet("snappy")),
        "Parquet, Zstandard": ("orders-zstd.parquet", _parquet("zstd")),
        "CSV": ("orders.csv", b"id,amount\n1,20\n2,35\n"),
        "JSON lines": ("orders.jsonl", b'{"id": 1}\n{"id": 2}\n'),
        "JSON": ("orders.json", b'{"orders": [{"id": 1}, {"id": 2}]}\n'),
        "notebook": ("sales.ipynb", json.dumps(notebook).encode()),
        "Markdown": ("about.md", b"# Sales\n\nTables of the *shop*.\n"),
        "image": ("dot.png", _image()),
        "PDF": ("report.pdf", b"%PDF-1.4\n%%EOF\n"),
        "text": ("notes.txt", b"first load, then check\n"),
        "code": ("load.py", b"import lakefs\n\nprint(lakefs.repositories())\n"),
    }


def _parquet(compression: str) -> bytes:
    file = BytesIO()
    pq.write_table(pa.table({"id": [1, 2], "amount": [20, 35]}), file, compression=compression)
    return file.getvalue()


def _image() -> bytes:
    """Return a PNG of one grey pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0\x80")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
