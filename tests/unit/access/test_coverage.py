"""What of a valid statement never applies."""

import json
import re

from graveler.access.coverage import warnings_about
from graveler.access.policy import Effect, Statement
from graveler.access.resources import can_match
from graveler.access.standard import POLICIES
from graveler_functions.api.all_operations import TEMPLATES
from graveler_functions.api.authorization.known_actions import known_actions
from tests.support.checks.cases import for_each

FS = "arn:lakefs:fs:::"
LAKE = f"{FS}repository/lake"
REPOSITORY = f"{FS}repository/{{repository}}"
OBJECT, BRANCH = f"{REPOSITORY}/object/{{path}}", f"{REPOSITORY}/branch/{{branch}}"
USER = "arn:lakefs:auth:::user/{name}"
FORMS = {each.action: each.resources for each in known_actions(TEMPLATES)}


def warnings(actions, resource, conditions=None):
    found = warnings_about(
        3, Statement(Effect.ALLOW, tuple(actions), resource, conditions or {}), FORMS
    )
    return [(each.number, each.field, each.problem, each.remedy) for each in found]


@for_each(
    ("resource", "matched"),
    [
        ("*", {REPOSITORY, OBJECT, BRANCH, USER, "*"}),
        (f"{FS}*", {REPOSITORY, OBJECT, BRANCH}),
        (f"{FS}rep?sitory/lake", {REPOSITORY, OBJECT, BRANCH}),
        (LAKE, {REPOSITORY}),
        (f"{LAKE}*", {REPOSITORY, OBJECT, BRANCH}),
        (f"{FS}repository/*", {REPOSITORY, OBJECT, BRANCH}),
        (f"{FS}repository/${{user}}", {REPOSITORY}),
        (f"{LAKE}/*", {OBJECT, BRANCH}),
        (f"{LAKE}/object/a/b", {OBJECT}),
        (f"{LAKE}/obj*", {OBJECT}),
        (f"{FS}repository/*/branch/main", {REPOSITORY, OBJECT, BRANCH} - {REPOSITORY}),
        (f"{FS}repository/l?ke/branch/main", {REPOSITORY, OBJECT, BRANCH}),
        (f"{LAKE}/tag/v1", set()),
        (f"{FS}namespace/s3://b/x", set()),
        ("arn:lakefs:auth:::user/ann", {USER}),
        ("arn:lakefs:auth:::group/ann", set()),
        ("nonsense", set()),
    ],
)
def test_a_resource_matches_the_forms_that_it_can_name(resource, matched):
    forms = (REPOSITORY, OBJECT, BRANCH, USER, "*")
    assert {form for form in forms if can_match(resource, form)} == matched


def test_an_action_on_resources_of_another_kind_has_no_effect():
    objects = f"{LAKE}/object/*"
    [warning] = warnings(["fs:ReadObject", "fs:ListObjects"], objects)
    assert warning == (
        3,
        "resource",
        "fs:ListObjects has no effect on these resources",
        f"it is about {REPOSITORY}",
    )
    assert warnings(["fs:ListObjects", "fs:ReadObject"], json.dumps([LAKE, objects])) == []
    assert warnings(["fs:*", "fs:Read*"], LAKE) == []
    assert len(warnings(["auth:*", "auth:*", "auth:ListUsers"], LAKE)) == 2
    assert len(warnings(["auth:ListUsers"], "arn:lakefs:auth:::*")) == 1


def test_what_no_operation_needs_and_what_is_never_true_is_named():
    [(_, field, problem, _)] = warnings(["catalog:*", "catalog:ReadView"], "*")
    assert (field, problem) == ("action", "no operation needs catalog:ReadView")
    never = {"StringLike": {"catalog:x": ["a"], "SourceIp": ["1*"]}}
    [(_, field, problem, _)] = warnings(["fs:*"], "*", never)
    assert (field, "catalog:x is never true" in problem) == ("condition", True)


@for_each("name", POLICIES)
def test_of_the_standard_policies_only_those_of_views_have_warnings(name):
    for each in POLICIES[name]:
        found = warnings(each.actions, each.resource, each.conditions)
        assert all(
            re.fullmatch("no operation needs catalog:.*Views?", problem)
            for _, _, problem, _ in found
        )


@for_each(
    ("action", "resource", "fits"),
    [
        ("ListNamespaces", "namespace/lake", True),
        ("ListNamespaces", "namespace/lake/sales/eu", True),
        ("DeleteNamespace", "namespace/lake", False),
        ("ReadTable", "table/lake/sales/eu/orders", True),
        ("ReadTable", "table/lake/*", True),
        ("ReadTable", "table/*", True),
        ("ReadTable", "*", True),
        ("ReadTable", "namespace/lake/sales", False),
        ("*", "table/lake/sales/orders", True),
    ],
)
def test_rights_of_the_catalog_are_about_namespaces_and_tables(action, resource, fits):
    found = warnings([f"catalog:{action}"], f"arn:lakefs:catalog:::{resource}")
    assert [field for _, field, *_ in found] == ([] if fits else ["resource"])
