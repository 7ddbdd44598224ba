"""Where the engine's own files are under a storage namespace, and its own paths in a repository.

The names are lakeFS's, but that of the folder for tables. Object data are under `data/`
(`graveler.addresses`).
"""

from typing import Final

# A folder that holds this one is a repository's namespace, or was one.
METADATA_FOLDER: Final = "_lakefs/"

# Has a folder for the files of each Iceberg table (`graveler.iceberg.places`).
TABLES_FOLDER: Final = "_iceberg/"

# Paths of objects that are Iceberg tables and their namespaces; no other writer changes them.
TABLES_PREFIX: Final = b"_lakefs_tables/"


def committed_key(file_id: str) -> str:
    """Return the key of a range or metarange, relative to the namespace."""
    return f"{METADATA_FOLDER}{file_id}"


def committed_uri(namespace: str, file_id: str) -> str:
    """Return the URI of a range or metarange: its place in the store, and its name in caches."""
    return f"{namespace}/{METADATA_FOLDER}{file_id}"


def task_folder(namespace: str, task_id: str) -> str:
    """Return the URI, with a slash, of the folder for a task's intermediate results."""
    return f"{namespace}/{METADATA_FOLDER}tasks/{task_id}/"
