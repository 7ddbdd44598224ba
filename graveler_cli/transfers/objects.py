"""The API's operations that transfers use, for one ref of a repository."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

import msgspec

from graveler_cli.client import ApiRefusedError, LakeClient
from graveler_cli.schemas import Config, ObjectStats, StorageConfig
from graveler_cli.transfers.requests import RepeatedRequests
from graveler_cli.transport import Body, WholeAnswer
from graveler_cli.uris import PathUri

T = TypeVar("T")

_REF = "/repositories/{repository}/refs/{ref}"
_BRANCH = "/repositories/{repository}/branches/{ref}"

PAGE_SIZE = 1000


class Address(msgspec.Struct, frozen=True):
    """The address of a new object's data, with a presigned URL."""

    physical_address: str = ""
    presigned_url: str | None = None
    presigned_url_expiry: int | None = None


class _PathAddress(Address, frozen=True):
    path: str = ""


class PathError(msgspec.Struct, frozen=True):
    """What went wrong with one object of a request on many."""

    status_code: int = 0
    message: str = ""
    path: str | None = None

    def __str__(self) -> str:
        return f"[{self.status_code}] {self.message}"


class _Addresses(msgspec.Struct, frozen=True):
    addresses: list[_PathAddress] = []
    errors: list[PathError] = []


class Linked(msgspec.Struct, frozen=True):
    """The objects that are linked, and the errors of the others."""

    objects: list[ObjectStats] = []
    errors: list[PathError] = []


class OpenUpload(msgspec.Struct, frozen=True):
    """An open upload in parts."""

    upload_id: str
    physical_address: str
    presigned_urls: list[str] | None = None


class _PartUrl(msgspec.Struct, frozen=True):
    presigned_url: str


class _Deletions(msgspec.Struct, frozen=True):
    errors: list[PathError] = []


class RefObjects:
    """The objects of a ref."""

    def __init__(
        self, server: LakeClient, repository: str, ref: str, requests: RepeatedRequests
    ) -> None:
        self._server = server
        self._names = {"repository": repository, "ref": ref}
        self.journal_names = (server.endpoint, repository, ref)
        self.requests = requests
        self.headers = server.headers
        self._lock = Lock()
        self._objects = server.url(f"{_BRANCH}/objects", self._names) + "?path="

    def uri(self, path: str) -> str:
        """Return the URI of a path, as users write it."""
        return str(PathUri(self._names["repository"], self._names["ref"], path))

    @property
    def storage(self) -> StorageConfig:
        """The capabilities of the object store."""
        with self._lock:
            return self._storage

    @cached_property
    def _storage(self) -> StorageConfig:
        return self._server.ask("GET", "/config", {}, Config).storage_config

    def presigns(self, pre_sign: bool | None) -> bool:  # noqa: FBT001 - as the option
        """Whether to use presigned URLs; None picks the faster way, if there are any."""
        return pre_sign is not False and self.storage.pre_sign_support

    def listing(self, prefix: str, *, presign: bool) -> Iterator[ObjectStats]:
        """Yield the objects below a prefix, by name."""
        query = {"prefix": prefix, "presign": presign, "amount": PAGE_SIZE}
        return self._server.each(f"{_REF}/objects/ls", self._names, ObjectStats, query)

    def content_url(self, path: str, *, presign: bool) -> str:
        """Return the URL of an object's content; with presign, it redirects."""
        query = {"path": path, "presign": presign}
        return self._server.url(f"{_REF}/objects", self._names, query)

    def stat(self, path: str, *, presign: bool) -> ObjectStats:
        """Return an object; with presign, its address is a URL."""
        query = {"path": path, "presign": presign, "user_metadata": True}
        return self._ask("GET", f"{_REF}/objects/stat", query, ObjectStats)

    def store(self, path: str, headers: Mapping[str, str], body: Body) -> ObjectStats:
        """Store an object by one request."""
        url = self._objects + quote(path, safe="")
        return self._decoded(
            self.requests.ask("POST", url, self.headers | dict(headers), body), ObjectStats
        )

    def address(self, path: str) -> Address:
        """Return a new address for an object's data, with a presigned URL."""
        query = {"path": path, "presign": True}
        return self._ask("GET", f"{_BRANCH}/staging/backing", query, Address)

    def link(self, path: str, body: object) -> ObjectStats:
        """Link uploaded data to the path."""
        return self._ask("PUT", f"{_BRANCH}/staging/backing", {"path": path}, ObjectStats, body)

    def addresses(self, paths: list[str]) -> Mapping[str, Address | PathError]:
        """Return new addresses for the data of objects, or why there is none, by path."""
        query, body = {"presign": True}, {"paths": paths}
        found = self._ask("POST", f"{_BRANCH}/staging/addresses", query, _Addresses, body)
        refused = {each.path or "": each for each in found.errors}
        return refused | {each.path: each for each in found.addresses if each.presigned_url}

    def link_each(self, bodies: Sequence[Mapping[str, object]]) -> Linked:
        """Link uploaded data to the paths that the bodies name."""
        return self._ask("POST", f"{_BRANCH}/staging/links", {}, Linked, {"objects": bodies})

    def begin_parts(self, path: str, parts: int) -> OpenUpload:
        """Begin an upload in parts."""
        query = {"path": path, "parts": parts}
        return self._ask("POST", f"{_BRANCH}/staging/pmpu", query, OpenUpload)

    def part_url(self, path: str, upload: OpenUpload, number: int) -> str:
        """Return a new URL for a part."""
        template = f"{_BRANCH}/staging/pmpu/{{upload}}/parts/{{number}}"
        names = {"upload": upload.upload_id, "number": str(number)}
        body = {"physical_address": upload.physical_address}
        found = self._ask("PUT", template, {"path": path}, _PartUrl, body, names)
        return found.presigned_url

    def complete(self, path: str, upload: OpenUpload, body: object) -> ObjectStats:
        """Join the parts of an upload to an object."""
        template = f"{_BRANCH}/staging/pmpu/{{upload}}"
        names = {"upload": upload.upload_id}
        return self._ask("PUT", template, {"path": path}, ObjectStats, body, names)

    def abort(self, path: str, upload: OpenUpload) -> None:
        """Abort an upload, and delete its parts."""
        template = f"{_BRANCH}/staging/pmpu/{{upload}}"
        names = {"upload": upload.upload_id}
        body = {"physical_address": upload.physical_address}
        self._ask("DELETE", template, {"path": path}, str, body, names)

    def delete(self, paths: list[str]) -> list[tuple[str, str]]:
        """Delete objects; return the path and the message of each failure."""
        url = self._server.url(f"{_BRANCH}/objects/delete", self._names)
        headers = self.headers | {"Content-Type": "application/json"}
        body = msgspec.json.encode({"paths": paths})
        found = self._decoded(self.requests.ask("POST", url, headers, body), _Deletions)
        return [(each.path or "", str(each)) for each in found.errors]

    def refusal(self, answer: WholeAnswer) -> ApiRefusedError:
        """Return the error in an answer of the API."""
        return self._server.refusal(answer)

    def _ask(
        self,
        method: str,
        template: str,
        query: Mapping[str, object],
        shape: type[T],
        body: object = None,
        names: Mapping[str, str] | None = None,
    ) -> T:
        url = self._server.url(template, self._names | dict(names or {}), query)
        sent, headers = None, self.headers
        if body is not None:
            sent = msgspec.json.encode(body)
            headers = headers | {"Content-Type": "application/json"}
        elif method != "GET":
            sent = b""
        return self._decoded(self.requests.ask(method, url, headers, sent), shape)

    def _decoded(self, answer: WholeAnswer, shape: type[T]) -> T:
        if answer.status >= 300:
            raise self.refusal(answer)
        return self._server.decode(answer.content, shape)
