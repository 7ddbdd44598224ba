"""Tokens: OAuth2's client credentials are a key pair."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote

from graveler.errors import AuthenticationError
from graveler.http.auth import LoginSession
from graveler.http.basic import basic_pair
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.iceberg.request import IcebergRequest

_LIFE_S = 60 * 60

_CREDENTIALS = "client_credentials"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a type, no secret


def create_token(request: IcebergRequest) -> ApiAnswer:
    """Answer with a token for a key pair, or with a new one for a token (RFC 6749, RFC 8693)."""
    form = dict(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
    grant = form.get("grant_type", "")
    try:
        if grant == _CREDENTIALS:
            session = _of_key_pair(request, form)
        elif grant == _EXCHANGE:
            session = request.services.authenticator.renew(form.get("subject_token", ""), _LIFE_S)
        else:
            return _refusal(400, "unsupported_grant_type", f"send grant_type={_CREDENTIALS}")
    except AuthenticationError as error:
        return _refusal(401, "invalid_client", str(error))
    return answers.of_json(
        {
            "access_token": session.token,
            "token_type": "bearer",
            "expires_in": _LIFE_S,
            "issued_token_type": _ACCESS_TOKEN,
        },
        headers={"Cache-Control": "no-store"},
    )


def _of_key_pair(request: IcebergRequest, form: Mapping[str, str]) -> LoginSession:
    key_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    scheme, _, encoded = (request.header("authorization") or "").partition(" ")
    if scheme.lower() == "basic":
        pair = basic_pair(encoded)
        if pair is None:
            raise AuthenticationError("the header Authorization is malformed")
        key_id, secret = map(unquote, pair)
    return request.services.authenticator.log_in(key_id, secret, request.address, life_s=_LIFE_S)


def _refusal(status: int, error: str, description: str) -> ApiAnswer:
    return answers.of_json({"error": error, "error_description": description}, status)
