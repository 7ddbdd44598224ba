"""Temporary credentials of S3 for the files of one table, from STS.

A role may reach the files of all tables. STS issues credentials of this role under a policy of the
session, which leaves the files below one location.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from graveler.aws.errors import repeated
from graveler.aws.s3.uris import Location

# STS's maximum for a role that assumes another one. Clients ask for new ones before.
_LIFE_S = 60 * 60
# Of the policy of a session, in characters.
_POLICY_CHARACTERS_MAX = 2_048
_SESSION_NAME_CHARACTERS_MAX = 64

_READ = ("s3:GetObject",)
_WRITE = ("s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject")
# The role's own policy has the keys of buckets, and S3 as the only way to them.
_READ_KEYS = ("kms:Decrypt",)
_WRITE_KEYS = ("kms:GenerateDataKey",)

# A policy would take these for patterns, or for the beginning of a variable.
_SPECIAL = re.compile(r"[*?$]")


class VendedCredentials:
    """Issues credentials of the role, as properties of Iceberg's S3 FileIO."""

    def __init__(self, sts: Callable[[], Any], role_arn: str) -> None:
        self._sts = sts
        self._role_arn = role_arn

    def __call__(self, location: str, user: str, /, *, can_write: bool) -> Mapping[str, str]:
        """Return credentials for the files below the URI; none if its policy would be too long.

        Raises:
            ThrottledError: STS throttles, fails or does not answer.
        """
        partition = self._role_arn.split(":")[1]
        policy = session_policy(location, partition, can_write=can_write)
        if len(policy) > _POLICY_CHARACTERS_MAX:
            return {}
        answer = repeated(
            "STS",
            lambda: self._sts().assume_role(
                RoleArn=self._role_arn,
                RoleSessionName=_session_name(user),
                Policy=policy,
                DurationSeconds=_LIFE_S,
            ),
        )
        keys = answer["Credentials"]
        return {
            "s3.access-key-id": keys["AccessKeyId"],
            "s3.secret-access-key": keys["SecretAccessKey"],
            "s3.session-token": keys["SessionToken"],
            "s3.session-token-expires-at-ms": str(int(keys["Expiration"].timestamp()) * 1000),
        }


def session_policy(location: str, partition: str, *, can_write: bool) -> str:
    """Return the policy that leaves the files below the URI; without can_write, only to be read."""
    place = Location.of(location)
    folder = _SPECIAL.sub(lambda found: f"${{{found[0]}}}", f"{place.bucket}/{place.key}")
    statements = [
        (_READ + _WRITE if can_write else _READ, f"arn:{partition}:s3:::{folder}/*"),
        (_READ_KEYS + _WRITE_KEYS if can_write else _READ_KEYS, "*"),
    ]
    document = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": list(actions), "Resource": resource}
            for actions, resource in statements
        ],
    }
    return json.dumps(document, separators=(",", ":"))


def _session_name(user: str) -> str:
    """Return the user's name as CloudTrail shows it; STS takes at least two characters."""
    name = re.sub(r"[^\w+=,.@-]", "-", user, flags=re.ASCII)
    return name[:_SESSION_NAME_CHARACTERS_MAX].ljust(2, "-")
