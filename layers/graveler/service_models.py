"""botocore's models of services, cut to those that the functions use.

A new client parses its service's model and the endpoints of all services. In a cold start these are
two megabytes of JSON, most of it documentation and unused services.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

# The services of graveler.aws.connect, and STS, which some credentials need to assume a role.
SERVICES = frozenset(
    {
        "dynamodb",
        "events",
        "glue",
        "kms",
        "lambda",
        "s3",
        "secretsmanager",
        "sqs",
        "ssm",
        "sts",
    }
)

CHANGES = "without unused services, their endpoints, and the documentation in service models"


def cut(data: Path) -> None:
    """Remove other services, documentation and examples from botocore's folder of data."""
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in SERVICES:
            shutil.rmtree(folder)
    for path in data.glob("*/*/examples-1.json"):
        path.unlink()
    for path in data.glob("*/*/service-2.json.gz"):
        model = json.loads(gzip.decompress(path.read_bytes()))
        # The layer's archive compresses it as well, and Lambda unpacks that before the start.
        _write(path.with_suffix(""), _without_documentation(model))
        path.unlink()
    endpoints = json.loads((data / "endpoints.json").read_bytes())
    for partition in endpoints["partitions"]:
        services = partition["services"]
        partition["services"] = {name: services[name] for name in services if name in SERVICES}
    _write(data / "endpoints.json", endpoints)


def _without_documentation(model: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the model with empty texts for readers: botocore fails where some are missing."""
    if isinstance(model, dict):
        return {
            key: ""
            if key == "documentation" and isinstance(value, str)
            else _without_documentation(value)
            for key, value in model.items()
        }
    if isinstance(model, list):
        return [_without_documentation(each) for each in model]
    return model


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
