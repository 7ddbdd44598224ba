"""An event for each function over empty stores, and what it answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any

_TASK_MESSAGE = {
    "Records": [
        {
            "messageId": "m-1",
            "eventSource": "aws:sqs",
            "body": '{"repository": "lake", "task_id": "CAd8qj3tkbtms0fh2ok8ng"}',
        }
    ]
}

EVENTS: Mapping[str, dict[str, Any]] = {
    "api": {
        "version": "2.0",
        "rawPath": "/api/v1/setup_lakefs",
        "rawQueryString": "",
        "headers": {"host": "lake.example.com"},
        "requestContext": {
            "domainName": "lake.example.com",
            "requestId": "r-1",
            "http": {"method": "GET", "path": "/api/v1/setup_lakefs"},
            "stage": "$default",
        },
        "isBase64Encoded": False,
    },
    "cleanup": {},
    "iceberg": {
        "version": "2.0",
        "rawPath": "/iceberg/api/v1/config",
        "rawQueryString": "",
        "headers": {"host": "lake.example.com"},
        "requestContext": {
            "domainName": "lake.example.com",
            "requestId": "r-1",
            "http": {"method": "GET", "path": "/iceberg/api/v1/config"},
            "stage": "$default",
        },
        "isBase64Encoded": False,
    },
    "web": {
        "version": "2.0",
        "rawPath": "/repositories/lake",
        "headers": {"host": "lake.example.com"},
        "requestContext": {"http": {"method": "GET", "path": "/repositories/lake"}},
    },
    "events": {
        "Records": [
            {
                "eventName": "INSERT",
                "eventSource": "aws:dynamodb",
                "dynamodb": {
                    "Keys": {
                        "partition": {"S": "repository#lake#1"},
                        "sort": {"S": "outbox#d8qj3tkbtms0fh2ok8ng"},
                    },
                    "NewImage": {
                        "partition": {"S": "repository#lake#1"},
                        "sort": {"S": "outbox#d8qj3tkbtms0fh2ok8ng"},
                        "event": {"S": "not an event"},
                        "expires_at": {"N": "1"},
                    },
                    "SequenceNumber": "111",
                },
            }
        ]
    },
    "export": {
        "Records": [
            {
                "messageId": "m-1",
                "eventSource": "aws:sqs",
                "body": '{"repository": "lake", "branch": "main"}',
            }
        ]
    },
    "slices": {
        "repository": "lake",
        "uid": "d8qj3tkbtms0fh2ok8ng",
        "namespace": "s3://lake/repository",
        "task": "CAd8qj3tkbtms0fh2ok8ng",
        "base": "",
        "source": {"kind": "staged", "tokens": [], "version": 1},
        "start": "",
        "end": None,
    },
    "hooks": _TASK_MESSAGE,
    "tasks": _TASK_MESSAGE,
}

ANSWERS: Mapping[str, Callable[[Any], bool]] = {
    "api": lambda answer: json.loads(answer["body"])["state"] == "not_initialized",
    "cleanup": lambda answer: answer == {"done": 0},
    "events": lambda answer: answer == {"batchItemFailures": [{"itemIdentifier": "111"}]},
    # There is no such repository, so nothing is to be looked after.
    "export": lambda answer: answer == {"batchItemFailures": []},
    "iceberg": lambda answer: answer["statusCode"] == 401,
    "slices": lambda answer: answer["failure"]["code"] == "not_found",
    "hooks": lambda answer: answer == {"batchItemFailures": []},
    "tasks": lambda answer: answer == {"batchItemFailures": []},
    "web": lambda answer: answer["headers"]["Cache-Control"] == "no-cache",
}
