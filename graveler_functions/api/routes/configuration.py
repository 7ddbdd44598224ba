"""The version and the capabilities of the server, which decide what clients do."""

from graveler.access.actions import Action
from graveler.http.schemas import configuration as schemas
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.version import VERSION
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, Public, SignedIn
from graveler_functions.api.contract import TEXT, header
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

# The version of lakeFS whose API this is. lakefs-spec parses each part as an integer, and lakectl
# prints a warning for any other context.
API_VERSION = "1.84.0"
_VERSION = schemas.VersionConfig(API_VERSION, "lakeFS", VERSION)


@operations.add("GET", "/config", "getConfig", answers={200: schemas.Config})
@checked(SignedIn())
def get_config(request: Request) -> ApiAnswer:
    return answers.of_json(
        schemas.Config(
            _VERSION,
            _storage_config(request),
            [],  # only one storage: with more, the Python wrapper would look them up here by ID
            schemas.UiConfig(),
            schemas.CapabilitiesConfig(),
        )
    )


@operations.add("GET", "/config/version", "getLakeFSVersion", answers={200: schemas.VersionConfig})
@checked(SignedIn())
def get_version(request: Request) -> ApiAnswer:  # noqa: ARG001 - every route takes the request
    return answers.of_json(_VERSION)


@operations.add("GET", "/config/storage", "getStorageConfig", answers={200: schemas.StorageConfig})
@checked(Needs.on(Action.READ_CONFIG, named.EVERYTHING))
def get_storage_config(request: Request) -> ApiAnswer:
    return answers.of_json(_storage_config(request))


@operations.add(
    "GET",
    "/config/garbage-collection",
    "getGarbageCollectionConfig",
    answers={200: schemas.GarbageCollectionConfig},
)
@checked(SignedIn())
def get_garbage_collection_config(request: Request) -> ApiAnswer:  # noqa: ARG001 - as above
    return answers.of_json(schemas.GarbageCollectionConfig(PHYSICAL_ADDRESS_LIFE_S))


@operations.add(
    "POST", "/statistics", "postStatsEvents", body=schemas.StatsEvents, answers={204: None}
)
@checked(SignedIn())
def post_statistics(request: Request) -> ApiAnswer:
    # Check the body and drop it: usage statistics are not collected.
    request.decode(schemas.StatsEvents)
    return answers.empty()


@operations.add(
    "GET",
    "/usage-report/summary",
    "getUsageReportSummary",
    parameters=(header("Accept"),),
    answers={200: (schemas.InstallationUsageReport, TEXT)},
)
@checked(SignedIn())
def get_usage_report(request: Request) -> ApiAnswer:
    # The report has no months: CloudWatch counts requests.
    installation_id = request.services.accounts.installation().id
    if request.header("accept") == "text/plain":
        text = f"Usage for installation ID: {installation_id}\n"
        return answers.of_text(text)
    return answers.of_json(schemas.InstallationUsageReport(installation_id, ()))


@operations.add("GET", "/healthcheck", "healthCheck", answers={204: None})
@checked(Public())
def healthcheck(request: Request) -> ApiAnswer:  # noqa: ARG001 - as above
    return answers.empty()


def _storage_config(request: Request) -> schemas.StorageConfig:
    return schemas.StorageConfig(
        blockstore_type="s3",
        blockstore_namespace_example="s3://example-bucket/",
        namespace_validity_regex="^s3://",
        default_namespace_prefix=request.services.settings.namespace_prefix,
        pre_sign_support=True,
        pre_sign_support_ui=False,
        import_support=bool(request.engine.import_prefixes),
        import_validity_regex="^s3://",
        pre_sign_multipart_upload=True,
    )
