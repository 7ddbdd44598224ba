"""The stacks of `make dist`, made in an emulator of AWS by the commands of the folder's README."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.support.servers.emulator import EmulatedAccount
from tests.support.servers.formation import as_emulated
from tests.support.servers.runtime import REGION

ARTEFACTS = "company-artefacts"  # the bucket of the README
_SHELL_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def adapt(folder: Path) -> None:
    """Leave out of the folder's templates what the emulator cannot make."""
    for path in folder.glob("*.template.json"):
        path.write_text(json.dumps(as_emulated(json.loads(path.read_text()))))


def commands(folder: Path, text: str) -> str:
    """Return the commands of the README that have this text."""
    blocks: list[str] = _SHELL_BLOCK.findall((folder / "README.md").read_text())
    (found,) = (block for block in blocks if text in block)
    return found


@dataclass
class DeployedStacks:
    """Both stacks of a deployment, and its first administrator; outputs are read once."""

    account: EmulatedAccount
    name: str
    key_pair: Mapping[str, str]

    @classmethod
    def of(cls, account: EmulatedAccount, folder: Path) -> "DeployedStacks":
        """Deploy the folder, and set the deployment up, by its README."""
        made = cls(account, folder.name, {})
        made.deploy(folder)
        setup = commands(folder, "setup_lakefs").partition("\n")[2]
        secret = f"SECRET={made.outputs['SetupTokenSecret']} ENDPOINT={made.endpoint}\n"
        answer = json.loads(shell(account, folder, secret + setup))
        assert "access_key_id" in answer, answer
        made.key_pair = answer
        return made

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The outputs of both stacks."""
        formation = self.account.client("cloudformation")
        return {
            output["OutputKey"]: output["OutputValue"]
            for stack in (self.name, f"{self.name}-storage")
            for output in formation.describe_stacks(StackName=stack)["Stacks"][0]["Outputs"]
        }

    def deploy(self, folder: Path) -> None:
        """Make the stacks, or change them; the address may then be another one."""
        shell(self.account, folder, commands(folder, "cloudformation deploy"))
        self.__dict__.pop("outputs", None)

    @property
    def endpoint(self) -> str:
        """The address of the API: of a REST API with its stage and `/api/v1`."""
        found = next(value for key, value in self.outputs.items() if key.startswith("ApiEndpoint"))
        # The template knows AWS's host of a REST API; the emulator has another.
        host = f"http://\\1.execute-api.localhost:{urlsplit(self.account.endpoint).port}/"
        return re.sub(r"https://(\w+)\.execute-api\.[^/]+/", host, found)

    @property
    def catalogue(self) -> str:
        """The address of Iceberg's catalogue behind an HTTP API.

        The emulator has a catalogue of its own: at `/iceberg`, whatever the host.
        """
        api = str(urlsplit(self.endpoint).hostname).partition(".")[0]
        return f"{self.account.endpoint}/_aws/execute-api/{api}/$default/iceberg/api/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs."""
        return {
            **self.account.environment,
            "LAKECTL_SERVER_ENDPOINT_URL": self.endpoint,
            "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": self.key_pair["access_key_id"],
            "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": self.key_pair["secret_access_key"],
        }

    def accept(self, *arguments: str) -> dict[str, str]:
        """Run the acceptance suite; return the outcome of each step, and the reason if it is not ok."""
        program = Path(sys.executable).with_name("graveler")
        done = subprocess.run(
            (program, "doctor", "--write", "--json", *arguments),
            env={"PATH": os.environ["PATH"], **self.environment},
            check=False,
            capture_output=True,
            text=True,
        )
        steps = json.loads(done.stdout)["steps"]
        return {step["name"]: f"{step['outcome']} {step['reason']}".strip() for step in steps}

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """Send a request to the API as the administrator."""
        keys = self.key_pair["access_key_id"], self.key_pair["secret_access_key"]
        url = f"{self.endpoint.removesuffix('/api/v1')}/api/v1{path}"
        return requests.request(method, url, auth=keys, timeout=60, **more)

    def repository(self, name: str) -> str:
        """Create a repository; return its path in the API."""
        namespace = f"s3://{self.outputs['RepositoryBucket']}/{name}"
        body = {"name": name, "storage_namespace": namespace}
        created = self.ask("POST", "/repositories", json=body)
        assert created.status_code == 201, created.text
        return f"/repositories/{name}"

    def scheduled(self) -> list[Any]:
        """Return what the deployment's schedules call."""
        scheduler = self.account.client("scheduler")
        return [
            scheduler.get_schedule(Name=each["Name"], GroupName=each["GroupName"])["Target"]
            for each in scheduler.list_schedules(NamePrefix=f"{self.name}-")["Schedules"]
        ]

    @contextmanager
    def without(self, role: str, sid: str) -> Iterator[None]:
        """Take a statement away from a function's role meanwhile."""
        iam, name = self.account.client("iam"), f"{self.name}-{role}-{REGION}"
        (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
        document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
        kept = [each for each in document["Statement"] if each["Sid"] != sid]
        assert len(kept) == len(document["Statement"]) - 1

        def put(statements: list[object]) -> None:
            text = json.dumps({**document, "Statement": statements})
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=text)

        put(kept)
        try:
            yield
        finally:
            put(document["Statement"])


def shell(account: EmulatedAccount, folder: Path, text: str) -> str:
    """Run commands in the folder, with AWS's command line on the path; return what they print.

    Raises:
        CalledProcessError: a command failed.
    """
    environment = {
        **account.environment,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(account.log.parent),
        "AWS_DEFAULT_REGION": REGION,
    }
    command = ["bash", "-euo", "pipefail", "-c", text]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
    if done.returncode:
        sys.stdout.write((done.stdout + done.stderr).decode())
    done.check_returncode()
    return done.stdout.decode()
