"""Make what a deployment's stack makes on AWS: the tables, the installation, the first user.

Run by the supervisor as `python -m local.provision`, in the functions' environment; running it
again changes nothing.
"""

import hmac
import os
import sys
import time

from graveler.aws import connect, wiring
from graveler.aws.settings import Settings
from graveler.aws.tables import Tables
from graveler.errors import AlreadyExistsError
from graveler.ports import AccountStore, Credential, User
from local.keys import ACCESS_KEY_ID, SECRET_ACCESS_KEY

ADMINISTRATOR = "admin"


def provision() -> str:
    """Make what is missing; "" when the key pair of the environment can be used, else why not."""
    settings = Settings.from_environment(os.environ)
    dynamodb = connect.dynamodb(settings)
    Tables(settings.refs_table, settings.staging_table, dynamodb).create()
    accounts = wiring.accounts()
    accounts.installation()
    return _set_up(accounts, os.environ[ACCESS_KEY_ID], os.environ[SECRET_ACCESS_KEY])


def _set_up(accounts: AccountStore, access_key_id: str, secret_access_key: str) -> str:
    now_s = int(time.time())
    credential = Credential(access_key_id, secret_access_key, ADMINISTRATOR, now_s)
    try:
        accounts.set_up(User(ADMINISTRATOR, now_s), credential)
    except AlreadyExistsError:
        known = accounts.credential(access_key_id)
        secret = known.secret_access_key if known else ""
        if not hmac.compare_digest(secret.encode(), secret_access_key.encode()):
            return (
                f"this data folder was set up with another key pair than {access_key_id}: set "
                f"{ACCESS_KEY_ID} and {SECRET_ACCESS_KEY} to that one, or GRAVELER_DATA to a new "
                "folder"
            )
    return ""


if __name__ == "__main__":
    sys.exit(provision() or 0)
