"""Writes S3 Inventory reports as S3 does."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from hashlib import md5
from io import StringIO
from urllib.parse import quote_plus

from graveler.ports import ObjectData

MANIFEST = "s3://raw/inventory/2026-11-22T01-00Z/manifest.json"
_FOLDER = "inventory/data/"

# Key, size in bytes, and time.
Row = tuple[str, int, str]


def put_inventory(
    objects: ObjectData,
    files: Sequence[Sequence[Row]],
    more: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Store a report of the bucket `raw` with these files; the rows' ETags are their numbers' MD5.

    more: further columns of the first file.
    """
    described = []
    for number, rows in enumerate(files):
        text = StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for at, (key, size_bytes, time) in enumerate(rows):
            values = [each[at] for each in (more or {}).values()]
            etag = md5(str(at).encode()).hexdigest()
            writer.writerow(["raw", quote_plus(key), size_bytes, time, etag, *values])
        content = gzip.compress(text.getvalue().encode())
        key = f"{_FOLDER}{number}.csv.gz"
        objects.put(f"s3://raw/{key}", content, "application/gzip")
        described.append({"key": key, "MD5checksum": md5(content).hexdigest()})
    manifest = {
        "sourceBucket": "raw",
        "destinationBucket": "arn:aws:s3:::raw",
        "fileFormat": "CSV",
        "fileSchema": ", ".join(["Bucket, Key, Size, LastModifiedDate, ETag", *(more or {})]),
        "files": described,
    }
    objects.put(MANIFEST, json.dumps(manifest).encode(), "application/json")
