"""The server's version, configuration and statistics."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from graveler.http.schemas.fields import Count


class VersionConfig(Struct, frozen=True):
    version: str
    version_context: str
    # Not in lakeFS's API. Its clients ignore fields that they do not know.
    graveler_version: str


class StorageConfig(Struct, frozen=True):
    blockstore_type: str
    blockstore_namespace_example: str
    namespace_validity_regex: str = msgspec.field(name="blockstore_namespace_ValidityRegex")
    default_namespace_prefix: str
    pre_sign_support: bool
    pre_sign_support_ui: bool
    import_support: bool
    import_validity_regex: str
    pre_sign_multipart_upload: bool


class UiConfig(Struct, frozen=True):
    custom_viewers: list[str] = []


class CapabilitiesConfig(Struct, frozen=True):
    # lakectl 1.75 to 1.80 then commits and merges by tasks.
    async_ops: bool = True


class Config(Struct, frozen=True):
    version_config: VersionConfig
    storage_config: StorageConfig
    storage_config_list: list[StorageConfig]
    ui_config: UiConfig
    capabilities_config: CapabilitiesConfig


class GarbageCollectionConfig(Struct, frozen=True):
    grace_period: int


class StatsEvent(Struct, frozen=True, rename={"event_class": "class"}):
    event_class: str
    name: str
    count: Count


class StatsEvents(Struct, frozen=True):
    events: list[StatsEvent]


class UsageReport(Struct, frozen=True):
    year: int
    month: int
    count: int


class InstallationUsageReport(Struct, frozen=True):
    installation_id: str
    reports: Sequence[UsageReport]
