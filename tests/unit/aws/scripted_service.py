"""boto3's client of a JSON service with scripted answers instead of a network."""

import json
from io import BytesIO
from typing import Any, cast

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from urllib3 import HTTPResponse

REGION = "eu-west-1"

# What the service answers, with status 200; or what it refuses; or what goes wrong.
Step = dict[str, Any] | tuple[int, str] | Exception


class ScriptedService:
    """Plays its steps in order, the last one again and again; remembers the requests."""

    def __init__(self, name: str, *steps: Step) -> None:
        self._steps = list(steps)
        self.requests: list[dict[str, Any]] = []
        made: Any = boto3.client
        self.client = made(
            name,
            region_name=REGION,
            aws_access_key_id="AKIDEXAMPLE",
            aws_secret_access_key="secret",
            config=Config(retries={"total_max_attempts": 1}),
        )
        self.client.meta.events.register(f"before-send.{name}", self._answer)

    def connect(self) -> Any:
        return self.client

    def _answer(self, request: AWSPreparedRequest, **_: object) -> Any:
        self.requests.append(json.loads(cast("bytes", request.body)))
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, Exception):
            raise step
        status, body = (200, step) if isinstance(step, dict) else (step[0], {"__type": step[1]})
        raw = HTTPResponse(BytesIO(json.dumps(body).encode()), preload_content=False)
        return AWSResponse(request.url, status, HTTPHeaders(), raw)
