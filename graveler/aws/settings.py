"""What a deployment is configured with, read from the environment once."""

from collections.abc import Mapping
from dataclasses import dataclass

from graveler.export.settings import ExportSettings
from graveler.limits import RANGE_BYTES_MAX, RANGE_RAGGEDNESS_RECORDS

_MB = 1024 * 1024

_EXPORT = ExportSettings()

_Value = str | bool | int | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One deployment's settings: `GRAVELER_<NAME>` in the environment, and AWS's own region."""

    region: str
    refs_table: str
    staging_table: str

    # Of the embedded stack; None means AWS itself.
    dynamodb_endpoint: str | None = None
    s3_endpoint: str | None = None
    events_endpoint: str | None = None
    sqs_endpoint: str | None = None
    # Where browsers and clients reach the same objects, if not at s3_endpoint.
    s3_public_endpoint: str | None = None

    # Secrets at rest: `kms`, with the key's ID; or `module:function` that makes another Cipher.
    cipher: str = "kms"
    kms_key_id: str = ""

    # Who knows it may create the first administrator; "" lets nobody.
    setup_token: str = ""

    # Where events are published, and where the export function's messages go.
    event_bus: str = ""
    export_queue_url: str = ""
    # Under these URIs, separated by commas, branches may be exported; "" allows it nowhere.
    export_prefixes: tuple[str, ...] = ()
    # The Glue job that carries out exports of so many objects or more; "" where none is deployed.
    export_job: str = ""
    export_job_objects_min: int = _EXPORT.batch_objects_min

    # Operations that action files guard with hooks succeed, though no hook runs.
    ignore_actions: bool = False

    range_raggedness_records: int = RANGE_RAGGEDNESS_RECORDS
    range_bytes_max: int = RANGE_BYTES_MAX

    # Bounded caches of immutable content: whole files on disk, decoded blocks and headers in RAM.
    file_cache_folder: str = "/tmp/graveler"  # noqa: S108 - the one place a Lambda may write
    file_cache_bytes_max: int = 256 * _MB
    block_cache_bytes_max: int = 128 * _MB
    # How often a file is read in pieces before it is fetched whole.
    file_cache_reads: int = 4

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that the environment gives; what it does not name has its default.

        Raises:
            ValueError: a setting is missing, or is not the number that it must be.
        """
        values: dict[str, _Value | None] = {
            "region": environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        }
        for name, text in environment.items():
            field = name.removeprefix("GRAVELER_").lower()
            is_ours = name.startswith("GRAVELER_") and field in cls.__dataclass_fields__
            if not is_ours or field == "region":
                continue
            values[field] = _parsed(text, cls.__dataclass_fields__[field].type)
        missing = [
            f"GRAVELER_{f.upper()}" for f in ("refs_table", "staging_table") if f not in values
        ]
        if not values["region"]:
            missing.append("AWS_REGION")
        if missing:
            raise ValueError(f"not set in the environment: {', '.join(missing)}")
        return cls(**values)  # type: ignore[arg-type] # each has the type of its field by now


def _parsed(text: str, kind: object) -> _Value:
    """The text as a value of a field's type; a tuple's elements are separated by commas."""
    if kind is bool:
        return text.lower() == "true"
    if kind is int:
        return int(text)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
