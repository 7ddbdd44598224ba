"""Functions: their code, their settings, and what calls them."""

import ast
import json
from dataclasses import fields

import pytest

from graveler.aws.dynamodb.models import HEARTBEATS, STREAM_BEAT
from graveler.aws.settings import DeploymentSettings
from graveler_embedded import background
from graveler_embedded.lambda_runtime import TIMEOUT_S
from graveler_functions.api.settings import ApiSettings
from graveler_functions.cleanup.handler import CleanupSettings
from graveler_functions.iceberg.settings import IcebergSettings
from tests.infra.conftest import ROOT

OF_THE_ENGINE = (
    "api",
    "cleanup",
    "events",
    "export",
    "hooks",
    "iceberg",
    "slices",
    "tasks",
    "waits",
)
NAMES = (*OF_THE_ENGINE, "web")  # which test_web.py describes
FOLDERS = tuple(name for name in NAMES if name != "waits")  # which has the API's

# Of the embedded stack alone.
LOCAL = {
    "dynamodb_endpoint",
    "s3_endpoint",
    "s3_public_endpoint",
    "events_endpoint",
    "sqs_endpoint",
    "lambda_endpoint",
    "glue_endpoint",
    "cipher",
    "cipher_secret_arn",  # with `economy`: test_costs.py
    "setup_token",
    "shares_own_credentials",
}
# Their defaults are those of a function: /tmp, and what fits into its memory.
TUNING = {
    "file_cache_folder",
    "file_cache_bytes_max",
    "file_cache_reads",
    "block_cache_bytes_max",
    "range_raggedness_records",
    "range_bytes_max",
}
TABLES = {"refs_table", "staging_table"}
VENDING = {"vended_role_arn"}
EVERY = {"metrics"}  # read by graveler_functions.telemetry
ENGINE = TABLES | {"kms_key_id", "export_prefixes", "import_prefixes"}
HOOKS = {"hook_functions", "hook_buses", "hook_networks", "hook_secrets"}
COMMITTING = ENGINE | HOOKS | {"ignore_actions", "task_queue_url", "spread_tokens"}
TASKS = COMMITTING | {
    *("hook_queue_url", "slice_function", "slices_at_once", "dump_place"),
    *("tasks_at_once", "hooks_at_once"),
}
EXPECTED = {
    # It only writes requests of exports into the outbox: no queue of them, no job.
    "api": COMMITTING
    | {"request_work_s", "waits_at_once", "collection_job", "collections_delete"}
    | {field.name for field in fields(ApiSettings)} - {"setup_token"},
    "cleanup": TABLES | {field.name for field in fields(CleanupSettings)},
    "events": TABLES | {"event_bus"},
    "export": ENGINE
    | {"export_queue_url", "exports_at_once", "export_job", "export_job_objects_min"},
    "iceberg": TABLES | {"kms_key_id", "task_queue_url"},
    "slices": ENGINE,
    "hooks": TASKS,
    "tasks": TASKS,
}
EXPECTED["waits"] = EXPECTED["api"] - {"setup_token_arn"}


def functions(deployment):
    return {
        each["FunctionName"].removeprefix(f"{deployment.name}-"): each
        for each in deployment.resources("AWS::Lambda::Function").values()
    }


def mappings(deployment):
    return {
        deployment.flat(each["FunctionName"]): each
        for each in deployment.resources("AWS::Lambda::EventSourceMapping").values()
    }


def test_every_function_is_deployed(deployment):
    assert sorted(functions(deployment)) == sorted(NAMES)
    folders = {path.parent.name for path in (ROOT / "graveler_functions").glob("*/handler.py")}
    assert folders == set(FOLDERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_handler_exists_where_the_template_says(deployment, name):
    """That it can be imported from the layer alone is tried by test_layer."""
    module, _, function = functions(deployment)[name]["Handler"].rpartition(".")
    source = (ROOT / f"{module.replace('.', '/')}.py").read_text()
    defined = {
        node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
    }
    assert [each.arg for each in defined[function].args.args] == ["event", "context"]


@pytest.mark.parametrize("name", OF_THE_ENGINE)
def test_the_environment_has_the_variables_that_a_functions_settings_read(deployment, name):
    variables = functions(deployment)[name]["Environment"]["Variables"]
    named = {variable.removeprefix("GRAVELER_").lower() for variable in variables}
    is_vending = name == "iceberg" and deployment.name == "graveler-prod"
    assert named == EXPECTED[name] | EVERY | (VENDING if is_vending else set())
    assert all(variable.startswith("GRAVELER_") for variable in variables)


def test_every_setting_is_some_functions_or_has_a_reason_to_keep_its_default():
    known = {
        each.name
        for kind in (DeploymentSettings, ApiSettings, CleanupSettings, IcebergSettings)
        for each in fields(kind)
    }
    used = VENDING.union(*EXPECTED.values())
    assert known - used == LOCAL | TUNING | {"region"}  # the region is Lambda's own variable
    assert used <= known


@pytest.mark.parametrize("name", OF_THE_ENGINE)
def test_the_settings_of_a_function_can_be_read(deployment, name):
    variables = functions(deployment)[name]["Environment"]["Variables"]
    environment = {key: deployment.flat(value) for key, value in variables.items()}
    settings = DeploymentSettings.from_environment({"AWS_REGION": "eu-west-1", **environment})
    assert settings.refs_table == "<Refs48288B5D>"
    assert settings.staging_table == "<Staging12D1754E>"


def test_no_secret_is_in_a_function_s_configuration(deployment):
    variables = functions(deployment)["api"]["Environment"]["Variables"]
    assert deployment.flat(variables["GRAVELER_SETUP_TOKEN_ARN"]) == "<SetupTokenC572E43B>"
    assert "resolve:secretsmanager" not in json.dumps(deployment.all_resources)


def test_the_setup_token_goes_when_it_has_been_used(deployment_of):
    deployed = deployment_of("other")
    assert "GRAVELER_SETUP_TOKEN_ARN" not in functions(deployed)["api"]["Environment"]["Variables"]
    assert "SetupToken" not in json.dumps([deployed.storage, deployed.service])


def test_snapshots_of_processes_are_encrypted_with_the_deployments_key(deployment):
    assert "Key961B73FD" in deployment.flat(functions(deployment)["api"]["KmsKeyArn"])


def test_clients_get_an_existing_place_as_suggestion(dev, prod):
    def offered(deployment):
        variables = functions(deployment)["api"]["Environment"]["Variables"]
        return deployment.flat(variables["GRAVELER_NAMESPACE_PREFIX"])

    assert offered(dev) == "s3://<RepositoriesCC43A267>/"
    assert offered(prod) == "s3://<RepositoriesCC43A267>/"


def test_exports_go_where_the_settings_say(dev, prod):
    def allowed(deployment, name):
        return functions(deployment)[name]["Environment"]["Variables"]["GRAVELER_EXPORT_PREFIXES"]

    for name in ("api", "export"):
        assert allowed(dev, name) == ""
        assert allowed(prod, name) == "s3://company-published/exports/"


def test_imports_come_from_where_the_settings_say(dev, prod):
    def allowed(deployment):
        return functions(deployment)["api"]["Environment"]["Variables"]["GRAVELER_IMPORT_PREFIXES"]

    assert allowed(dev) == ""
    assert allowed(prod) == "s3://company-source/in/"


@pytest.mark.parametrize("name", OF_THE_ENGINE)
def test_functions_run_on_graviton(deployment, name):
    function = functions(deployment)[name]
    assert function["Architectures"] == ["arm64"]
    assert function["Runtime"] == "python3.13"
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert function["LoggingConfig"]["SystemLogLevel"] == "WARN"
    assert len(function["Layers"]) == 1


def test_functions_live_as_long_as_in_the_embedded_stack(deployment):
    found = functions(deployment)
    assert found["events"]["Timeout"] == background.EVENTS_TIMEOUT_S
    assert found["export"]["Timeout"] == TIMEOUT_S
    assert found["tasks"]["Timeout"] == TIMEOUT_S
    assert found["slices"]["Timeout"] == TIMEOUT_S
    assert found["cleanup"]["Timeout"] == TIMEOUT_S
    assert found["api"]["Timeout"] == found["iceberg"]["Timeout"] == 29


def test_concurrency_is_reserved_in_production_only(dev, prod):
    """A new account has a quota of ten, of which nothing can be reserved."""
    for function in functions(dev).values():
        assert "ReservedConcurrentExecutions" not in function
    reserved = {
        name: function["ReservedConcurrentExecutions"]
        for name, function in functions(prod).items()
        if "ReservedConcurrentExecutions" in function
    }
    assert reserved == {"api": 200, "cleanup": 1, "iceberg": 100, "slices": 240, "waits": 100}


def test_all_tasks_together_invoke_no_more_slices_than_may_run(prod):
    tasks_at_once = sum(
        each["ScalingConfig"]["MaximumConcurrency"]
        for name, each in mappings(prod).items()
        if name.startswith(("<TasksFunction", "<HooksFunction"))
    )
    variables = functions(prod)["tasks"]["Environment"]["Variables"]
    needed = tasks_at_once * int(variables["GRAVELER_SLICES_AT_ONCE"])
    assert functions(prod)["slices"]["ReservedConcurrentExecutions"] >= needed


def test_exports_and_tasks_may_go_on_by_messages_as_often_as_they_must(deployment):
    """Lambda stops a function that a message of its own calls for the sixteenth time."""
    allowed = {
        name
        for name, function in functions(deployment).items()
        if function.get("RecursiveLoop") == "Allow"
    }
    assert allowed == {"export", "hooks", "tasks"}


def test_processes_of_the_api_are_kept_ready_by_a_setting(dev, prod):
    def ready(deployment):
        aliases = deployment.resources("AWS::Lambda::Alias").values()
        return {
            deployment.flat(each["FunctionName"]): each["ProvisionedConcurrencyConfig"]
            for each in aliases
            if "ProvisionedConcurrencyConfig" in each
        }

    assert ready(dev) == {}
    ((name, found),) = ready(prod).items()
    assert name.startswith("<ApiFunction")
    assert found == {"ProvisionedConcurrentExecutions": 3}


def test_the_api_alone_resumes_snapshots_by_a_setting(dev, deployment_of):
    def resuming(deployment):
        return {
            name: function["SnapStart"]
            for name, function in functions(deployment).items()
            if "SnapStart" in function
        }

    assert resuming(dev) == {}
    found = deployment_of("other")
    assert resuming(found) == {"api": {"ApplyOn": "PublishedVersions"}}


def test_functions_are_called_by_an_alias_to_a_published_version(deployment):
    aliases = deployment.resources("AWS::Lambda::Alias")
    versions = {f"<{each}.Version>" for each in deployment.resources("AWS::Lambda::Version")}
    assert {deployment.flat(each["FunctionVersion"]) for each in aliases.values()} == versions
    assert len(aliases) == len(NAMES)
    callers = [*mappings(deployment), *schedules(deployment)]
    integrations = deployment.resources("AWS::ApiGatewayV2::Integration").values()
    callers += [deployment.flat(each["IntegrationUri"]) for each in integrations]
    variables = functions(deployment)["tasks"]["Environment"]["Variables"]
    callers.append(deployment.flat(variables["GRAVELER_SLICE_FUNCTION"]))
    assert sorted(callers) == sorted(f"<{each}>" for each in aliases)


def schedules(deployment):
    targets = [
        deployment.flat(each["Target"]["Arn"])
        for each in deployment.resources("AWS::Scheduler::Schedule").values()
    ]
    return [target for target in targets if "glue" not in target and "Queue" not in target]


def test_old_versions_stay_so_that_an_alias_can_go_back(deployment):
    for resource in deployment.all_resources.values():
        if resource["Type"] == "AWS::Lambda::Version":
            assert resource["DeletionPolicy"] == "Retain"


def test_the_outbox_alone_is_published_in_its_order_for_a_day(deployment):
    mapping = next(
        each
        for function, each in mappings(deployment).items()
        if function.startswith("<EventsFunction")
    )
    assert deployment.flat(mapping["EventSourceArn"]) == "<Refs48288B5D.StreamArn>"
    outbox, beat = (json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"])
    assert outbox == background.OUTBOX_ITEMS
    keys = {"partition": {"S": [HEARTBEATS]}, "sort": {"S": [STREAM_BEAT]}}
    assert beat == {"dynamodb": {"Keys": keys}}  # the item is rewritten, so any kind of record
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is False
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["MaximumRecordAgeInSeconds"] == 23 * 60 * 60
    assert "ParallelizationFactor" not in mapping
    destination = deployment.flat(mapping["DestinationConfig"]["OnFailure"]["Destination"])
    assert destination.startswith("<EventsUnpublished")


@pytest.mark.parametrize("function", ["<ExportFunction", "<TasksFunction"])
def test_exports_and_tasks_are_looked_after_one_by_one_and_so_many_at_once(dev, prod, function):
    def mapping(deployment):
        return next(
            each for name, each in mappings(deployment).items() if name.startswith(function)
        )

    for deployment, at_once in ((dev, 2), (prod, 10)):
        found = mapping(deployment)
        assert found["BatchSize"] == 1
        assert found["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert found["ScalingConfig"] == {"MaximumConcurrency": at_once}
