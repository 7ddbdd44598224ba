"""Continuous export of a branch: its configuration and its runs.

These are the operations of lakeFS 0.16 to 0.30, which later versions dropped. Three are new: they
return a run's status, return the last runs, and delete the configuration.
"""

from graveler.access.actions import Action
from graveler.http.schemas import exports as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.write_conditions import required_checksum
from graveler.model.settings import checksum_of
from graveler.operations.exports import requests
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import CHANGE, FORCE, IF_MATCH
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_BRANCH = "/repositories/<repository>/branches/<branch>"
_CONFIGURATION = f"{_BRANCH}/continuous-export"


@operations.add(
    "GET", _CONFIGURATION, "getContinuousExport", answers={200: schemas.ConfigurationBody}
)
@checked(Needs.on(Action.READ_BRANCH, named.BRANCH))
def get_configuration(request: Request) -> ApiAnswer:
    configuration = requests.get(request.engine, request.repository, request.branch)
    return answers.of_json(
        schemas.configuration_body(configuration), headers=answers.etag(checksum_of(configuration))
    )


@operations.add(
    "PUT",
    _CONFIGURATION,
    "setContinuousExport",
    parameters=(FORCE, IF_MATCH),
    body=schemas.ConfigurationBody,
    answers={201: None},
    errors=(*CHANGE, 412),
)
# An export gets an address to write to, as a new repository does: it needs the same.
@checked(
    Needs(
        On(Action.EXPORT_CONFIG, named.BRANCH),
        On(Action.ATTACH_STORAGE_NAMESPACE, named.EXPORT_PATHS),
    )
)
def set_configuration(request: Request) -> ApiAnswer:
    configuration = schemas.configuration_of(request.decode(schemas.ConfigurationBody))
    requests.configure(
        request.engine,
        request.repository,
        request.branch,
        configuration,
        force=request.query.flag("force"),
        if_match=required_checksum(request.headers),
    )
    return answers.empty(201)


@operations.add(
    "DELETE",
    _CONFIGURATION,
    "deleteContinuousExport",
    parameters=(IF_MATCH,),
    answers={204: None},
    errors=(*CHANGE, 412),
)
@checked(Needs.on(Action.EXPORT_CONFIG, named.BRANCH))
def delete_configuration(request: Request) -> ApiAnswer:
    requests.forget(
        request.engine, request.repository, request.branch, required_checksum(request.headers)
    )
    return answers.empty()


@operations.add("POST", f"{_BRANCH}/export-hook", "runExport", answers={201: str}, errors=CHANGE)
@checked(Needs.on(Action.CREATE_COMMIT, named.BRANCH))
def run(request: Request) -> ApiAnswer:
    export_id = requests.run(request.engine, request.repository, request.branch)
    return answers.of_json(export_id, 201)


@operations.add(
    "POST", f"{_BRANCH}/repair-export", "repairExport", answers={201: None}, errors=CHANGE
)
@checked(Needs.on(Action.CREATE_COMMIT, named.BRANCH))
def repair(request: Request) -> ApiAnswer:
    requests.repair(request.engine, request.repository, request.branch)
    return answers.empty(201)


@operations.add(
    "GET", f"{_BRANCH}/export-status", "getExportStatus", answers={200: schemas.StatusBody}
)
@checked(Needs.on(Action.READ_BRANCH, named.BRANCH))
def get_status(request: Request) -> ApiAnswer:
    status = requests.status(request.engine, request.repository, request.branch)
    return answers.of_json(schemas.status_body(status))


@operations.add(
    "GET", f"{_BRANCH}/export-runs", "listExportRuns", answers={200: Listing[schemas.EndedRunRow]}
)
@checked(Needs.on(Action.READ_BRANCH, named.BRANCH))
def list_runs(request: Request) -> ApiAnswer:
    ended = requests.ended_runs(request.engine, request.repository, request.branch)
    return answers.of_json(listing([schemas.ended_run_row(run) for run in ended], ""))
