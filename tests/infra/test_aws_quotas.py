"""A synth finds what AWS would refuse for its size, before anything is deployed."""

import json
import zipfile
from typing import Any

import pytest

from infra.aws_quotas import QUOTAS, SizeQuota, exceeded_quotas
from infra.role import INLINE_LENGTH_MAX, MANAGED_LENGTH_MAX
from infra.template_sizes import filled, json_length_max, text_length_max
from tests.support.worlds.shapes import BUCKETS


@pytest.fixture(scope="module")
def wide(deployment_of):
    """Synthesize the stage prod with fifty namespaces, in a bucket each."""
    return deployment_of("wide")


def length(document: dict[str, Any]) -> int:
    """Return how many characters IAM counts of a policy, at most."""
    return len(json.dumps(filled(document), separators=(",", ":")))


def test_with_fifty_namespaces_no_limit_is_exceeded(wide):
    assert exceeded_quotas(wide.folder) == []
    for role in wide.resources("AWS::IAM::Role").values():
        inline = [length(each["PolicyDocument"]) for each in role["Policies"]]
        assert sum(inline) <= INLINE_LENGTH_MAX
        assert len(role.get("ManagedPolicyArns", ())) <= 10
    managed = wide.resources("AWS::IAM::ManagedPolicy").values()
    assert len(managed) > 5
    for policy in managed:
        assert length(policy["PolicyDocument"]) <= MANAGED_LENGTH_MAX


def test_with_fifty_namespaces_roles_reach_each_of_them(wide):
    keys = {"api": "data/x", "garbage-collection-job": "_lakefs/x", "slices": "_lakefs/x"}
    for role, key in keys.items():
        read = {
            resource
            for each in wide.statements(role)
            if "s3:GetObject" in each["Action"]
            for resource in each["Resource"]
        }
        for uri in BUCKETS:
            place = uri.removeprefix("s3://")
            assert any(each.startswith(f"arn:aws:s3:::{place}*") for each in read), (role, key)


def test_a_statement_over_several_policies_allows_the_same(wide):
    """Each action is allowed on the same resources as one undivided statement would."""
    for role in ("api", "garbage-collection-job", "export-job", "tasks"):
        parts: dict[str, list[dict[str, Any]]] = {}
        for each in wide.statements(role):
            parts.setdefault(each["Sid"], []).append(each)
        assert any(len(statements) > 1 for statements in parts.values())
        for statements in parts.values():
            assert len({json.dumps(each["Action"]) for each in statements}) == 1
            assert len({json.dumps(each.get("Condition")) for each in statements}) == 1
            resources = [resource for each in statements for resource in each["Resource"]]
            assert len(resources) == len(set(resources))


def test_no_policy_has_two_statements_of_one_id(wide):
    documents = [
        policy["PolicyDocument"]
        for role in wide.resources("AWS::IAM::Role").values()
        for policy in role["Policies"]
    ]
    documents += [
        each["PolicyDocument"] for each in wide.resources("AWS::IAM::ManagedPolicy").values()
    ]
    for document in documents:
        sids = [each["Sid"] for each in document["Statement"]]
        assert len(sids) == len(set(sids))


@pytest.mark.parametrize(
    ("given", "resource", "remedy"),
    [
        (
            {"readable": ",".join(f"s3://company-source-{n:03d}/in/" for n in range(150))},
            "Environment of ApiFunction",
            "bytes, and AWS allows 4,096: name fewer or shorter places in `readable`",
        ),
        pytest.param(
            {"namespaces": ",".join(f"s3://lake-{n:03d}/{'long/' * 30}" for n in range(150))},
            "graveler-dev: ManagedPolicyArns of JobsGarbageCollectionRole",
            "policies, and AWS allows 10: name fewer or shorter places in `namespaces`",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"gc_repositories": ",".join(f"repository-{n}" for n in range(220))},
            "graveler-dev: the template",
            "resources, and AWS allows 500: name fewer repositories in `gc_repo",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_aws_would_refuse_ends_the_synth_with_the_remedy(
    synths, tmp_path, given, resource, remedy
):
    done = synths.run(tmp_path, "dev", given)
    assert done.returncode == 1
    assert any(resource in line and remedy in line for line in done.stderr.splitlines())


# Values of the properties whose quota measures a part, with a text of the given size in it.
WITH_PARTS = {
    "DashboardBody": lambda size: json.dumps({"widgets": [{}] * size}),
    "Environment": lambda size: {"Variables": {"A": "x" * size}},
    "FilterCriteria": lambda size: {"Filters": [{"Pattern": "x"}, {"Pattern": "x" * size}]},
    "Policies": lambda size: [{"PolicyName": "access", "PolicyDocument": "x" * size}],
    "Target": lambda size: {"Arn": "a", "Input": "x" * size},
}


def value_of(quota: SizeQuota, size: int) -> Any:
    if quota.key in WITH_PARTS:
        return WITH_PARTS[quota.key](size)
    return ["x"] * size if quota.size is len else "x" * size


def written(folder, resources: dict[str, Any], **parts: Any):
    template = {"Resources": resources, **parts}
    (folder / "stack.template.json").write_text(json.dumps(template))
    return folder


@pytest.mark.parametrize("quota", QUOTAS, ids=lambda quota: f"{quota.kind}.{quota.key}")
def test_each_limit_is_found_with_the_resource_its_size_and_the_remedy(quota, tmp_path):
    def problems(size: int) -> list[str]:
        properties = {quota.key: value_of(quota, size)}
        resources: dict[str, Any] = {
            "Thing1234": {"Type": f"AWS::{quota.kind}", "Properties": properties}
        }
        if quota.kind == "Lambda::Function":
            properties["Code"] = {"S3Key": f"{'0' * 64}.zip"}
            resources["x"] = {
                "Type": "Other",
                "Properties": {"Content": {"S3Key": "0" * 64 + ".zip"}},
            }
            if quota.key == "Layers":
                properties["Layers"] = [{"Ref": "x"}] * size
        return exceeded_quotas(written(tmp_path, resources))

    with zipfile.ZipFile(tmp_path / f"asset.{'0' * 64}.zip", "w"):
        pass
    (problem,) = problems(quota.maximum + 1)
    assert problem.startswith(f"stack: {quota.key} of Thing1234 (AWS::{quota.kind}) has up to ")
    assert f" {quota.unit}, and AWS allows {quota.maximum:,}: {quota.remedy}" in problem
    assert problems(quota.maximum // 2) == []


def test_limits_of_a_template_are_found(tmp_path):
    topic = {"Type": "AWS::SNS::Topic"}
    many = {f"Topic{n}": topic for n in range(501)}
    (problem,) = exceeded_quotas(written(tmp_path, many))
    assert problem.startswith("stack: the template has up to 501 resources, and AWS allows 500")
    outputs = {f"Output{n}": {"Value": "x"} for n in range(201)}
    (problem,) = exceeded_quotas(written(tmp_path, {"Topic": topic}, Outputs=outputs))
    assert "201 outputs, and AWS allows 200" in problem
    (problem,) = exceeded_quotas(written(tmp_path, {"Topic": topic}, Description="x" * 1025))
    assert "the description has up to 1,025 bytes" in problem
    large = {"Topic": {**topic, "Metadata": "x" * 1_000_000}}
    (problem,) = exceeded_quotas(written(tmp_path, large))
    assert "the template has up to 1,000,0" in problem
    assert "bytes, and AWS allows 1,000,000" in problem


def test_tags_are_counted_on_every_resource(tmp_path):
    tags = [{"Key": f"key-{n}", "Value": ""} for n in range(51)]
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"Tags": tags}}
    (problem,) = exceeded_quotas(written(tmp_path, {"Topic": topic}))
    assert "Tags of Topic (AWS::SNS::Topic) has up to 51 tags, and AWS allows 50" in problem


def test_code_is_measured_unpacked_with_its_layers(tmp_path):
    def archive(digit: str, size: int) -> dict[str, str]:
        name = f"{digit * 64}.zip"
        with zipfile.ZipFile(tmp_path / f"asset.{name}", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("zeros", bytes(size))
        return {"S3Bucket": "assets", "S3Key": name}

    half = 125 * 1024 * 1024
    layer = {"Type": "AWS::Lambda::LayerVersion", "Properties": {"Content": archive("a", half)}}
    properties = {"Code": archive("b", half + 1), "Layers": [{"Ref": "Layer"}]}
    function = {"Type": "AWS::Lambda::Function", "Properties": properties}
    (problem,) = exceeded_quotas(written(tmp_path, {"Layer": layer, "Function": function}))
    assert "the code of Function, with its layers, has up to 262,144,001 bytes unpacked" in problem
    del properties["Layers"]
    assert exceeded_quotas(written(tmp_path, {"Layer": layer, "Function": function})) == []


def test_what_is_known_only_at_deployment_counts_as_long_as_it_may_be():
    assert text_length_max({"Ref": "AWS::Region"}) == 15
    assert text_length_max({"Fn::Sub": "a-${AWS::AccountId}-${AWS::Region}"}) == 2 + 12 + 1 + 15
    assert text_length_max({"Fn::Join": ["-", ["ab", {"Ref": "AWS::Partition"}]]}) == 13
    assert text_length_max({"Fn::GetAtt": ["Table", "Arn"]}) >= len(
        "arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/"
        "a-team-with-the-long-name-storage-Refs48288B5D-ABCDEFGHIJKLM"
    )
    assert json_length_max({"a": [{"Ref": "AWS::AccountId"}]}) == len('{"a":["123456789012"]}')
