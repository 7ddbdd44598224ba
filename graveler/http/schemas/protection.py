"""Branch protection rules."""

from msgspec import Struct

from graveler.http.schemas.fields import NonEmpty


class ProtectionRuleBody(Struct, frozen=True):
    pattern: NonEmpty


class ProtectionRuleRow(Struct, frozen=True):
    pattern: str
