"""Creates the tables, the installation and the first user, as a deployment does on AWS.

The supervisor runs it as `python -m graveler_embedded.provision` in the functions' environment.
Running it again changes nothing.
"""

import contextlib
import hmac
import os
import sys
import time

from graveler.access.digests import secret_digest
from graveler.aws import wiring
from graveler.errors import AlreadyExistsError, ThrottledError
from graveler.operations.accounts import installation
from graveler.ports import AccountStore, Credential, User
from graveler_embedded.key_pair import ACCESS_KEY_ID, SECRET_ACCESS_KEY

ADMINISTRATOR = "admin"

# On a busy machine, a store's first answer may take longer than a request waits.
STORE_PATIENCE_S = 240.0


def provision() -> str:
    """Create all that is missing; return a problem of the environment's key pair, "" if none."""
    create_tables()
    accounts = wiring.adapters().accounts
    accounts.installation()
    return _set_up(accounts, os.environ[ACCESS_KEY_ID], os.environ[SECRET_ACCESS_KEY])


def create_tables() -> None:
    """Create the tables as soon as the store answers.

    Raises:
        ThrottledError: the store did not answer in time.
    """
    deadline_s = time.monotonic() + STORE_PATIENCE_S
    while True:
        try:
            return wiring.adapters().tables.create()
        except ThrottledError:
            if time.monotonic() > deadline_s:
                raise


def _set_up(accounts: AccountStore, access_key_id: str, secret_access_key: str) -> str:
    now_s = int(time.time())
    credential = Credential(access_key_id, secret_access_key, ADMINISTRATOR, now_s)
    with contextlib.suppress(AlreadyExistsError):
        installation.set_up(accounts, User(ADMINISTRATOR, now_s), credential)
    installation.upgrade(accounts, now_s, access_key_id)  # a data folder from before groups existed
    known = accounts.look_up(access_key_id).key
    if known is not None:
        signing_key = accounts.installation().signing_key
        digest = secret_digest(
            signing_key, access_key_id, known.user, known.user_uid, secret_access_key
        )
        if hmac.compare_digest(digest, known.digest):
            return ""
    return (
        f"this data folder was set up with a key pair other than {access_key_id}: set "
        f"{ACCESS_KEY_ID} and {SECRET_ACCESS_KEY} to that pair, or GRAVELER_DATA to a new folder"
    )


if __name__ == "__main__":
    sys.exit(provision() or 0)
