"""Garbage collection: its rules, and the lists that a collection reads."""

from graveler.access.actions import Action
from graveler.http.schemas import retention as schemas
from graveler.http.schemas.tasks import TaskCreated, error_of
from graveler.http.write_conditions import required_checksum
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.model.tasks import TaskKind
from graveler.operations import retention
from graveler.operations.tasks import requests as tasks
from graveler.operations.uncommitted_addresses import prepare_uncommitted
from graveler.times import rfc3339
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import IF_MATCH, WAITING, required_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_RULES = "/repositories/<repository>/settings/gc_rules"
_COLLECTION = "/repositories/<repository>/gc"


@operations.add("GET", _RULES, "getGCRules", answers={200: schemas.Rules})
@operations.add(
    "GET", f"{_COLLECTION}/rules", "internalGetGarbageCollectionRules", answers={200: schemas.Rules}
)
@checked(Needs.on(Action.GET_COLLECTION_RULES, named.REPOSITORY))
def get_rules(request: Request) -> ApiAnswer:
    rules, checksum = retention.get_rules(request.engine, request.repository)
    return answers.of_json(schemas.rules_body(rules), headers=answers.etag(checksum))


@operations.add(
    "PUT",
    _RULES,
    "setGCRules",
    parameters=(IF_MATCH,),
    body=schemas.Rules,
    answers={204: None},
    errors=(403, 412),
)
@operations.add(
    "POST",
    f"{_COLLECTION}/rules",
    "internalSetGarbageCollectionRules",
    parameters=(IF_MATCH,),
    body=schemas.Rules,
    answers={204: None},
    errors=(403, 412),
)
@checked(Needs.on(Action.SET_COLLECTION_RULES, named.REPOSITORY))
def set_rules(request: Request) -> ApiAnswer:
    rules = schemas.rules_of(request.decode(schemas.Rules))
    retention.set_rules(
        request.engine, request.repository, rules, required_checksum(request.headers)
    )
    return answers.empty()


@operations.add(
    "DELETE",
    _RULES,
    "deleteGCRules",
    parameters=(IF_MATCH,),
    answers={204: None},
    errors=(403, 412),
)
@operations.add(
    "DELETE",
    f"{_COLLECTION}/rules",
    "internalDeleteGarbageCollectionRules",
    parameters=(IF_MATCH,),
    answers={204: None},
    errors=(403, 412),
)
@checked(Needs.on(Action.SET_COLLECTION_RULES, named.REPOSITORY))
def delete_rules(request: Request) -> ApiAnswer:
    retention.delete_rules(request.engine, request.repository, required_checksum(request.headers))
    return answers.empty()


@operations.add(
    "GET",
    f"{_COLLECTION}/rules/set_allowed",
    "setGarbageCollectionRulesPreflight",
    answers={204: None},
    errors=(403,),
)
@checked(Needs.on(Action.SET_COLLECTION_RULES, named.REPOSITORY))
def set_rules_preflight(request: Request) -> ApiAnswer:
    retention.changeable_repository(request.engine, request.repository)
    return answers.empty()


@operations.add(
    "POST",
    f"{_COLLECTION}/prepare_commits",
    "prepareGarbageCollectionCommits",
    answers={201: schemas.PreparedCommits, **WAITING},
    errors=(403,),
)
@checked(Needs.on(Action.PREPARE_COMMITS, named.REPOSITORY))
def prepare_commits(request: Request) -> ApiAnswer:
    prepared = retention.prepare_commits(
        request.engine, request.repository, request.user, request.client_wait
    )
    return answers.of_json(_prepared_row(request, prepared), 201)


@operations.add(
    "POST",
    f"{_COLLECTION}/prepare_commits/async",
    "prepareGarbageCollectionCommitsAsync",
    answers={202: TaskCreated},
    errors=(403,),
)
@checked(Needs.on(Action.PREPARE_COMMITS, named.REPOSITORY))
def prepare_commits_async(request: Request) -> ApiAnswer:
    task = retention.start_prepare(request.engine, request.repository, request.user)
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_COLLECTION}/prepare_commits/status",
    "prepareGarbageCollectionCommitsStatus",
    parameters=(required_text("id"),),
    answers={200: schemas.PrepareCommitsStatus},
)
@checked(Needs.on(Action.PREPARE_COMMITS, named.REPOSITORY))
def prepare_commits_status(request: Request) -> ApiAnswer:
    task_id = request.query.required_text("id")
    task = tasks.status(request.engine, request.repository, task_id, TaskKind.PREPARE_COMMITS)
    prepared = retention.prepared_by(task)
    return answers.of_json(
        schemas.PrepareCommitsStatus(
            task_id=task.id,
            completed=task.has_ended,
            update_time=rfc3339(task.update_time_ns),
            result=None if prepared is None else _prepared_row(request, prepared),
            error=error_of(task),
        )
    )


# Spelled as in lakeFS.
@operations.add(
    "POST",
    f"{_COLLECTION}/prepare_uncommited",
    "prepareGarbageCollectionUncommitted",
    body=schemas.PrepareUncommitted,
    is_body_optional=True,
    answers={201: schemas.PreparedUncommitted},
    errors=(403,),
)
@checked(Needs.on(Action.PREPARE_UNCOMMITTED, named.REPOSITORY))
def prepare_uncommitted_addresses(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PrepareUncommitted) if request.body else None
    prepared = prepare_uncommitted(
        request.engine, request.repository, (body and body.continuation_token) or ""
    )
    return answers.of_json(
        schemas.PreparedUncommitted(
            prepared.run_id, prepared.folder_uri, prepared.continuation or None
        ),
        201,
    )


def _prepared_row(request: Request, prepared: retention.CollectionFiles) -> schemas.PreparedCommits:
    url = request.engine.objects.presign_get(
        prepared.commits_uri, PRESIGNED_URL_LIFE_S, "commits.csv"
    )
    return schemas.PreparedCommits(
        prepared.run_id, prepared.commits_uri, prepared.addresses_uri, url
    )
