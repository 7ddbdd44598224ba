"""HTTP over kept connections, through the proxies of the environment, with redirects.

Proxies are found as lakectl finds them: HTTPS_PROXY or HTTP_PROXY by the URL's scheme, NO_PROXY for
hosts without one, and never one for this machine. Certificates are the system's; SSL_CERT_FILE and
SSL_CERT_DIR name others.
"""

import os
from collections.abc import Mapping
from urllib.parse import unquote, urljoin, urlsplit

import urllib3

# A request that takes long is redirected three times; an object's bytes once, to a presigned URL.
_REDIRECTS_MAX = 5

# They are for the server alone.
_CREDENTIALS = {"authorization", "cookie"}
_OF_THE_BODY = {"content-type", "content-length", "content-md5"}

_PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
_NEVER_SENT = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Transport:
    """Connections to the server, and to the hosts that it redirects to."""

    def __init__(
        self, headers: Mapping[str, str], timeout: urllib3.Timeout, *, connections: int
    ) -> None:
        self.headers = headers
        # Each attempt is the caller's to repeat.
        self._settings = {"maxsize": connections, "timeout": timeout, "retries": False}
        self._managers: dict[str, urllib3.PoolManager] = {}

    def urlopen(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        """Return the answer at the end of all redirects; its content is still to be read.

        Raises:
            HTTPError: the host, or its proxy, could not be reached, or redirects without end.
        """
        first = url
        for _ in range(_REDIRECTS_MAX + 1):
            response = self._sent(method, url, body, headers, is_redirected=url is not first)
            location = response.get_redirect_location()
            if not location:
                return response
            response.drain_conn()
            response.release_conn()
            try:
                target = urljoin(url, location)
                is_elsewhere = _origin(target) != _origin(url)
            except ValueError as error:
                raise urllib3.exceptions.ResponseError(f"a redirect to {location!r}") from error
            # As browsers and Go: what was done is at the target, to be read.
            if response.status == 303 or (response.status in {301, 302} and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
                headers = _without(headers, _OF_THE_BODY)
            if is_elsewhere:
                headers = _without(headers, _CREDENTIALS)
            url = target
        raise urllib3.exceptions.ResponseError(f"more than {_REDIRECTS_MAX} redirects")

    def _sent(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        is_redirected: bool,
    ) -> urllib3.BaseHTTPResponse:
        try:
            return self._manager(url).urlopen(
                method, url, body=body, headers=headers, redirect=False, preload_content=False
            )
        except _NEVER_SENT as error:
            if not is_redirected:
                raise
            # The request before the redirect may have had its effect.
            raise urllib3.exceptions.ProtocolError(str(error), error) from error

    def _manager(self, url: str) -> urllib3.PoolManager:
        """Return the connections through the URL's proxy, or without one."""
        proxy = proxy_of(url)
        if proxy not in self._managers:
            self._managers[proxy] = through(proxy, self._settings)
        return self._managers[proxy]


def proxy_of(url: str) -> str:
    """Return the URL of the proxy for a URL, or "" for none."""
    if not any(os.environ.get(name) for name in _PROXIES):
        return ""
    # Imported late, because most have no proxy.
    from urllib import request  # noqa: PLC0415

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return ""
    proxy = request.getproxies().get(parts.scheme, "")
    if not proxy or request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def through(proxy: str, settings: Mapping[str, object]) -> urllib3.PoolManager:
    """Return connections through a proxy, or without one if it is ""."""
    if not proxy:
        return urllib3.PoolManager(**settings)  # type: ignore[arg-type]
    parts = urlsplit(proxy)
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    headers = urllib3.make_headers(proxy_basic_auth=user) if parts.username else {}
    host = parts.netloc.rpartition("@")[2]
    return urllib3.ProxyManager(
        f"{parts.scheme}://{host}",
        proxy_headers=headers,
        **settings,  # type: ignore[arg-type]
    )


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)


def _without(headers: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
