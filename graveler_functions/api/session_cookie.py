"""The cookie that holds the session of a browser."""

from graveler.http.auth import SESSION_COOKIE, SESSION_LIFE_S
from graveler_functions.api.request import Request


def with_session(request: Request, token: str) -> str:
    """Return the cookie that holds the session."""
    return _cookie(request, token, SESSION_LIFE_S)


def without_session(request: Request) -> str:
    """Return the cookie that makes the browser forget its session."""
    return _cookie(request, "", 0)


def _cookie(request: Request, value: str, max_age_s: int) -> str:
    secure = "; Secure" if request.services.settings.secure_cookies else ""
    # The page itself needs no session, and its own requests carry the cookie. So a link from
    # another site shows what it leads to, although the browser sends no cookie with it.
    about = f"Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}"
    return f"{SESSION_COOKIE}={value}; {about}"
