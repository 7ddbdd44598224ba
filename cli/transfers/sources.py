"""Where the content of an object is read: a URL of the API, or a presigned one that expires."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import time

from urllib3 import BaseHTTPResponse

from cli.errors import CommandError
from cli.shapes import ObjectStats
from cli.transfers.uploads import has_expired
from cli.transfers.verification import may_be_other

_RENEWALS_MAX = 3
_EXPIRY_MARGIN_S = 15


class WrongDataError(CommandError):
    """What the object store has or sends is not the object."""


class ChangedError(WrongDataError):
    """The object was replaced during its download."""

    def __init__(self) -> None:
        super().__init__("the object has changed since the download began: download it again")


@dataclass(slots=True)
class ContentSource:
    """Where an object's content is read, and what the answers say of it."""

    url: str
    headers: dict[str, str]
    renew: Callable[[], str] | None  # returns a new URL; None: the URL does not expire
    expires_s: int | None = None
    etag: str = ""
    is_encrypted: bool = False
    renewals: int = 0
    lock: Lock = field(default_factory=Lock)

    def fresh_url(self) -> str:
        """Return a URL that has not expired."""
        with self.lock:
            if self.renew is not None:
                is_old = self.expires_s is not None and time() + _EXPIRY_MARGIN_S > self.expires_s
                if is_old or has_expired(self.url):
                    self._renew()
            return self.url

    def replace(self, used: str) -> bool:
        """Get another URL than the one used, which was refused; return whether there is one."""
        with self.lock:
            if self.url == used and self.renew is not None and self.renewals < _RENEWALS_MAX:
                self._renew()
            return self.url != used

    def may_be_other(self, stats: ObjectStats) -> bool:
        """Whether a checksum of MD5's form may be none of the content."""
        is_store = self.renew is not None
        return may_be_other(stats, self.etag, is_encrypted=self.is_encrypted, is_store=is_store)

    def note(self, answer: BaseHTTPResponse, *, is_range: bool) -> None:
        """Keep what an answer says of the object.

        Raises:
            ChangedError: the bytes before it are of another object.
        """
        tag = (answer.headers.get("ETag") or "").strip('" ')
        encryption = answer.headers.get("x-amz-server-side-encryption") or ""
        with self.lock:
            if is_range and answer.status == 206 and tag and self.etag not in {"", tag}:
                raise ChangedError
            self.etag = tag
            self.is_encrypted = encryption.startswith("aws:kms")

    def _renew(self) -> None:
        assert self.renew is not None
        self.renewals += 1
        self.url, self.expires_s = self.renew(), None
