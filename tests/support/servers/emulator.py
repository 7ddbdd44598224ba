"""AWS on this machine, which runs the stacks of `make dist` with IAM enforced: MiniStack.

`python -m tests.support.servers.emulator` installs it, in an environment of its own: it runs
functions on the Python that runs it, which is Lambda's if this machine has it.
"""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child
from graveler_embedded.tcp_ports import free_port
from tests.support.servers.localhost import sitecustomize
from tests.support.servers.runtime import REGION, interpreter

ENVIRONMENT = ROOT / ".venv" / "emulator"
REQUIREMENTS = ROOT / "requirements-emulator.txt"
ACCOUNT = "123456789012"
# The emulator takes this key pair for the account's root user.
ROOT_USER = "test"
# For child processes that are written in Python: names below localhost, such as those of APIs.
LOCALHOST = Path(sitecustomize.__file__).parent


@dataclass(frozen=True)
class EmulatedAccount:
    """An account of the emulator, used by its root user."""

    endpoint: str
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to reach it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ROOT_USER,
            "AWS_SECRET_ACCESS_KEY": ROOT_USER,
            "PYTHONPATH": str(LOCALHOST),
        }

    def client(self, service: str, key_id: str = ROOT_USER, secret: str = ROOT_USER) -> Any:
        """Return a client of a service, for the root user or another one."""
        return boto3.client(
            service,  # type: ignore[call-overload] # any service
            region_name=REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
        )

    def keys_of(self, role: str) -> tuple[str, str]:
        """Return a key pair of a new user with exactly the permissions of a role."""
        iam = self.client("iam")
        iam.create_user(UserName=role)
        for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
            document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            iam.put_user_policy(UserName=role, PolicyName=name, PolicyDocument=json.dumps(document))
        pair = iam.create_access_key(UserName=role)["AccessKey"]
        return pair["AccessKeyId"], pair["SecretAccessKey"]

    def make_bucket(self, name: str) -> None:
        """Make an empty bucket."""
        place = {"LocationConstraint": REGION}
        self.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=place)

    def is_ready(self) -> bool:
        """Whether the emulator answers."""
        try:
            urllib.request.urlopen(f"{self.endpoint}/_ministack/health", timeout=5).close()
        except OSError:
            return False
        return True


@contextmanager
def emulated_account(folder: Path) -> Iterator[EmulatedAccount]:
    """Start an emulator, whose files are in the folder, on a port of loopback."""
    if not (ENVIRONMENT / "bin" / "ministack").exists():
        raise FileNotFoundError("the emulator is missing: make deployed installs it")
    port = free_port()
    account = EmulatedAccount(f"http://127.0.0.1:{port}", folder / "emulator.log")
    environment = {
        **account.environment,
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "AUTH": "true",
    }
    child = Child("the emulator", [ENVIRONMENT / "bin" / "ministack"], account.log, environment)
    try:
        child.wait_until(account.is_ready)
        yield account
    finally:
        child.stop()


def install() -> None:
    """Install the emulator; print with which Python."""
    python, version = interpreter()
    sys.stdout.write(f"Installing the emulator of AWS for Python {version}\n")
    subprocess.run([python, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    pip = (ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check")
    subprocess.run((*pip, "--quiet", "-r", REQUIREMENTS), check=True)


if __name__ == "__main__":
    install()
