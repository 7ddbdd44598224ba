"""What a deployment decides about the API function, from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """Settings of the HTTP side; the defaults suit the embedded stack. Never printed."""

    # Who knows it may create the first administrator; "" lets nobody.
    setup_token: str = ""
    # Browsers send a Secure cookie over TLS only, which the embedded stack does not speak.
    secure_cookies: bool = False
    # What clients offer as the start of a new repository's storage namespace.
    namespace_prefix: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that the function was deployed with."""
        return cls(
            setup_token=environment.get("GRAVELER_SETUP_TOKEN", ""),
            secure_cookies=environment.get("GRAVELER_SECURE_COOKIES", "") == "true",
            namespace_prefix=environment.get("GRAVELER_NAMESPACE_PREFIX", ""),
        )
