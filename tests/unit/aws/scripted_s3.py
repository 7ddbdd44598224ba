"""boto3's S3 client with scripted answers instead of a network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from urllib3 import HTTPResponse

from graveler.aws.connect import s3_config
from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from tests.unit.aws.scripted import FakeTime

REGION = "eu-west-1"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def refusal(status: int, code: str, **headers: str) -> Answer:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>why</Message></Error>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, body.encode())


# What S3 answers, or what goes wrong; or what finds out by the requests so far.
Step = Answer | Exception
Steps = Step | Callable[["ScriptedS3"], Step]


class ScriptedS3:
    """Plays its steps in order, the last one again and again; remembers the requests."""

    def __init__(self, *steps: Steps) -> None:
        self._steps = list(steps)
        self.requests: list[AWSPreparedRequest] = []
        client = boto3.client(
            "s3",
            region_name=REGION,
            aws_access_key_id="AKIDEXAMPLE",
            aws_secret_access_key="secret",
            config=s3_config(None),
        )
        client.meta.events.register("before-send.s3", self._answer)
        self.s3 = S3(client, FakeTime().retries())
        self.objects = S3ObjectStore(self.s3)

    def _answer(self, request: AWSPreparedRequest, **_: object) -> Any:
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if callable(step):
            step = step(self)
        if isinstance(step, Exception):
            raise step
        raw = HTTPResponse(BytesIO(step.body), preload_content=False)
        headers: Any = step.headers
        return AWSResponse(request.url, step.status, headers, raw)
