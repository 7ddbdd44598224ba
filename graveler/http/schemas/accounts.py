"""Setup, log-in, and the current user."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from graveler.http.schemas.credentials import NewAccessKey
from graveler.http.schemas.users import UserRow


class Setup(Struct, frozen=True):
    username: Annotated[str, Meta(min_length=1, max_length=256)]
    key: NewAccessKey | None = None


class CommunicationPreferences(Struct, frozen=True, rename="camel"):
    feature_updates: bool
    security_updates: bool
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    company_name: str = ""


class LoginConfig(Struct, frozen=True):
    rbac: str = msgspec.field(name="RBAC")
    username_ui_placeholder: str
    password_ui_placeholder: str
    login_url: str
    login_url_method: str
    login_failed_message: str
    login_cookie_names: list[str]
    logout_url: str


class SetupState(Struct, frozen=True):
    state: str
    comm_prefs_missing: bool
    login_config: LoginConfig


class Login(Struct, frozen=True):
    access_key_id: str
    secret_access_key: str

    __repr__ = object.__repr__  # shows no secret


class AuthenticationToken(Struct, frozen=True):
    token: str
    token_expiration: int

    __repr__ = object.__repr__  # shows no secret


class CurrentUser(Struct, frozen=True, omit_defaults=True):
    """The user, and the access key of the request or of the log-in that began its session.

    lakeFS has no field `access_key_id`; its clients ignore it.
    """

    user: UserRow
    access_key_id: str | None = None


class AuthCapabilities(Struct, frozen=True):
    invite_user: bool = False
    forgot_password: bool = False
