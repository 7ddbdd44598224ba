"""What outlives the storage stack of prod can be imported into a new one: docs/backup.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# Kinds that CloudFormation imports, with the property that identifies one of them.
IDENTIFIERS = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::KMS::Key": "KeyId",
    "AWS::S3::Bucket": "BucketName",
}


@pytest.fixture
def mapping() -> dict[str, dict[str, str]]:
    """The file that the runbook lets operators write."""
    page = (ROOT / "docs/backup.md").read_text().partition("## Retained tables")[2]
    found = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert found
    made: dict[str, dict[str, str]] = json.loads(found[1])
    return made


def referred(value: Any) -> Iterator[str]:
    """Yield the logical IDs that a part of a template refers to."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case dict():
            for each in value.values():
                yield from referred(each)
        case list():
            for each in value:
                yield from referred(each)


def test_all_that_is_retained_with_the_tables_is_imported(prod, mapping):
    retained = {
        logical_id
        for logical_id, each in prod.storage["Resources"].items()
        if each.get("DeletionPolicy", "").startswith("Retain") and each["Type"] in IDENTIFIERS
    }
    assert set(mapping) == retained


def test_each_is_named_by_what_identifies_its_kind(prod, mapping):
    for logical_id, names in mapping.items():
        assert [*names] == [IDENTIFIERS[prod.storage["Resources"][logical_id]["Type"]]]


def test_the_import_needs_nothing_that_is_not_imported(prod, mapping):
    for logical_id in mapping:
        found = {
            name
            for name in referred(prod.storage["Resources"][logical_id])
            if not name.startswith("AWS::")
        }
        assert found <= set(mapping), logical_id


def test_nothing_else_of_the_storage_stack_holds_state(prod, mapping):
    """What the deployment after the import makes anew loses nothing but the used setup token."""
    others = {
        each["Type"]
        for logical_id, each in prod.storage["Resources"].items()
        if logical_id not in mapping
    }
    assert others <= {
        "AWS::CDK::Metadata",
        "AWS::S3::BucketPolicy",
        "AWS::SecretsManager::Secret",
    }
