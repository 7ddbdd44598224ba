"""Where the content of an object is read: a URL of the API, or a presigned one that expires."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import time

from urllib3 import BaseHTTPResponse

from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.uploads import has_expired
from graveler_cli.transfers.verification import may_be_other

_RENEWALS_MAX = 3
_EXPIRY_MARGIN_S = 15


class WrongDataError(CommandError):
    """The stored or received bytes are not the object's."""


class ChangedError(WrongDataError):
    """The object was replaced during its download."""

    def __init__(self) -> None:
        super().__init__("the object has changed since the download began: download it again")


@dataclass(slots=True)
class ContentSource:
    """The URL of an object's content, and facts from the answers."""

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
        """Renew the URL after `used` was refused; return whether there is a new one."""
        with self.lock:
            if self.url == used and self.renew is not None and self.renewals < _RENEWALS_MAX:
                self._renew()
            return self.url != used

    def may_be_other(self, stats: ObjectStats) -> bool:
        """Whether a checksum in MD5's form may not be the content's MD5."""
        is_store = self.renew is not None
        return may_be_other(stats, self.etag, is_encrypted=self.is_encrypted, is_store=is_store)

    def note(self, answer: BaseHTTPResponse, *, is_range: bool) -> None:
        """Keep the entity tag and the encryption that an answer names.

        Raises:
            ChangedError: the earlier bytes belong to another object.
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
