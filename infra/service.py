"""The stack of all functions, jobs and alarms. It can be deleted and created again without loss."""

from dataclasses import replace

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import events, http_api, iceberg, packages, web
from infra.budget import add_budget
from infra.events import Events
from infra.function import ARCHITECTURE, RUNTIME, Function
from infra.http_api import HttpApi
from infra.jobs import (
    EXPORT,
    GARBAGE_COLLECTION,
    Jobs,
    export_prefixes,
    job_arn,
    job_name,
    watched_collections,
)
from infra.metrics import MonitoredParts
from infra.observability import Observability
from infra.rest_api import RestApi
from infra.role_permissions import RolePermissions
from infra.rollout import Rollout, is_gradual
from infra.settings import InfraSettings
from infra.storage import StorageStack


class ServiceStack(Stack):
    """The stateless part of a deployment, over its storage."""

    def __init__(self, scope: Construct, settings: InfraSettings, storage: StorageStack) -> None:
        super().__init__(scope, settings.name, description="Graveler: functions, jobs and alarms")
        self._settings = settings
        self._storage = storage
        self._permissions = RolePermissions(self, storage, settings)
        self._layer = lambda_.LayerVersion(
            self,
            "Layer",
            description="The engine and what it needs",
            code=lambda_.Code.from_asset(
                packages.layer(ARCHITECTURE.name, compiled=settings.is_production)
            ),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
        )
        self.events = Events(self, settings)
        api, waits = self._make_api_functions()
        functions = [
            api,
            waits,
            self._make_events_function(),
            self._make_export_function(),
            *self._make_tasks_functions(),
            self._make_cleanup_function(),
        ]
        catalogue = self._make_iceberg_function()
        functions.append(catalogue)
        routes = [iceberg.routes_of(catalogue)]
        if settings.has_page:
            page = web.make_function(self, settings, storage)
            functions.append(page)
            routes.append(web.routes_of(page))
        jobs = Jobs(self, settings, storage, self.events, self._permissions)
        gateway = (RestApi if settings.has_rest_api else HttpApi)(
            self, settings, api, waits, routes
        )
        parts = MonitoredParts(settings, storage, gateway, self.events, jobs, functions)
        watching = Observability(self, parts)
        # Other stacks use it.
        self.topic = watching.topic
        if settings.monthly_budget_usd:
            add_budget(self, settings)
        if is_gradual(settings):
            Rollout(self, settings, api, watching)
        CfnOutput(self, "EventBus", value=self.events.bus.event_bus_name)

    def _make_api_functions(self) -> tuple[Function, Function]:
        """Make the function of the API, and that of its requests that wait for tasks."""
        job = job_name(self._settings, GARBAGE_COLLECTION)
        environment = (
            self._engine_environment()
            | {
                "GRAVELER_SECURE_COOKIES": "true",
                "GRAVELER_NAMESPACE_PREFIX": self._namespace_prefix(),
                "GRAVELER_IAM_LOGIN_SERVER_ID": self._settings.iam_login_server_id,
                "GRAVELER_COLLECTION_JOB": job,
                "GRAVELER_COLLECTIONS_DELETE": str(self._settings.gc_deletes).lower(),
                "GRAVELER_REQUEST_WORK_S": str(self._settings.request_work_s),
                "GRAVELER_WAITS_AT_ONCE": str(self._settings.waits_reserved),
            }
            | self._committing_environment()
        )
        # Bounds the cost of a flood of requests, and leaves concurrency to others.
        shape = replace(
            http_api.SHAPE,
            reserved=self._settings.api_reserved,
            snap_start=self._settings.snap_start,
            provisioned=self._settings.provisioned_concurrency,
        )
        statements = self._permissions.api(self.events.task_queue.queue_arn, job_arn(self, job))
        kept = self._storage.setup_token
        token = {"GRAVELER_SETUP_TOKEN_ARN": kept.secret_arn} if kept else {}
        api = Function(
            self,
            self._settings,
            shape,
            self._layer,
            statements,
            environment | token,
            # It encrypts snapshots of processes as well, which have the signing key.
            key=self._storage.key,
        )
        shape = replace(http_api.WAITS, reserved=self._settings.waits_reserved)
        waits = Function(self, self._settings, shape, self._layer, (), environment, of=api)
        return api, waits

    def _make_iceberg_function(self) -> Function:
        """Make the function of the catalogue, whose requests take no concurrency of the API's."""
        is_vending = self._settings.vended_credentials
        role = {"GRAVELER_VENDED_ROLE_ARN": self._permissions.files_role_arn} if is_vending else {}
        function = Function(
            self,
            self._settings,
            replace(iceberg.SHAPE, reserved=self._settings.iceberg_reserved),
            self._layer,
            self._permissions.iceberg(self.events.task_queue.queue_arn),
            self._storage.table_variables
            | self._storage.cipher_variables
            | {"GRAVELER_TASK_QUEUE_URL": self.events.task_queue.queue_url}
            | role,
        )
        if is_vending:
            iceberg.make_files_role(self._permissions, function)
        return function

    def _make_events_function(self) -> Function:
        bus_arn = self.events.bus.event_bus_arn
        function = Function(
            self,
            self._settings,
            events.EVENTS,
            self._layer,
            self._permissions.events(bus_arn, self.events.unpublished.queue_arn),
            self._storage.table_variables | {"GRAVELER_EVENT_BUS": self.events.bus.event_bus_name},
        )
        self.events.publish_from(self._storage, function)
        return function

    def _make_export_function(self) -> Function:
        job = job_name(self._settings, EXPORT)
        function = Function(
            self,
            self._settings,
            events.EXPORT,
            self._layer,
            self._permissions.export(self.events.export_queue.queue_arn, job_arn(self, job)),
            self._engine_environment()
            | {
                "GRAVELER_EXPORT_QUEUE_URL": self.events.export_queue.queue_url,
                "GRAVELER_EXPORTS_AT_ONCE": str(self._settings.exports_at_once),
                "GRAVELER_EXPORT_JOB": job,
                "GRAVELER_EXPORT_JOB_OBJECTS_MIN": str(self._settings.export_job_objects_min),
            },
        )
        self.events.export_with(self._settings, function)
        return function

    def _make_tasks_functions(self) -> tuple[Function, Function, Function]:
        """Make the functions that run tasks, those with hooks, and slices of both."""
        slices = Function(
            self,
            self._settings,
            replace(events.SLICES, reserved=self._settings.slices_reserved),
            self._layer,
            self._permissions.slices(),
            self._engine_environment(),
        )
        slices_arn = slices.alias.function_arn
        tasks_arn, hooks_arn = self.events.task_queue.queue_arn, self.events.hook_queue.queue_arn
        hook_queue = {"GRAVELER_HOOK_QUEUE_URL": self.events.hook_queue.queue_url}
        environment = (
            self._engine_environment()
            | self._committing_environment()
            | {
                "GRAVELER_SLICE_FUNCTION": slices_arn,
                "GRAVELER_SLICES_AT_ONCE": str(self._settings.slices_at_once),
                "GRAVELER_TASKS_AT_ONCE": str(self._settings.tasks_at_once),
                "GRAVELER_HOOKS_AT_ONCE": str(self._settings.hooks_at_once),
                "GRAVELER_DUMP_PLACE": "".join(place.uri for place in self._settings.dump_place),
            }
        )
        tasks, hooks = (
            Function(self, self._settings, shape, self._layer, statements, environment | queue)
            for shape, statements, queue in (
                (
                    events.TASKS,
                    self._permissions.tasks(tasks_arn, hooks_arn, slices_arn),
                    hook_queue if self._settings.has_hook_queue else {},
                ),
                (events.HOOKS, self._permissions.hooks(hooks_arn, slices_arn), hook_queue),
            )
        )
        self.events.run_tasks_with(self._settings, tasks)
        self.events.run_hooks_with(self._settings, hooks)
        if self._settings.dump_schedule:
            events.dump_with(self.events, self._settings.dump_schedule)
        return tasks, hooks, slices

    def _make_cleanup_function(self) -> Function:
        watched = watched_collections(self._settings)
        function = Function(
            self,
            self._settings,
            replace(events.CLEANUP, has_watched_metric=bool(watched)),
            self._layer,
            self._permissions.cleanup(),
            self._storage.table_variables | {"GRAVELER_WATCHED_COLLECTIONS": ",".join(watched)},
        )
        events.clean_up_with(self.events, self._settings, function)
        return function

    def _engine_environment(self) -> dict[str, str]:
        return (
            self._storage.table_variables
            | self._storage.cipher_variables
            | {
                "GRAVELER_EXPORT_PREFIXES": export_prefixes(self._settings),
                # The role may read and list these places, and users read imported objects there.
                "GRAVELER_IMPORT_PREFIXES": ",".join(
                    place.uri for place in self._settings.readable
                ),
            }
        )

    def _committing_environment(self) -> dict[str, str]:
        """Return the variables of functions that commit, merge and start tasks."""
        return {
            "GRAVELER_SPREAD_TOKENS": str(self._settings.spread_tokens).lower(),
            "GRAVELER_IGNORE_ACTIONS": str(self._settings.ignore_actions).lower(),
            "GRAVELER_HOOK_FUNCTIONS": ",".join(self._settings.hook_functions),
            "GRAVELER_HOOK_BUSES": ",".join(self._settings.hook_buses),
            "GRAVELER_HOOK_NETWORKS": ",".join(self._settings.hook_networks),
            "GRAVELER_HOOK_SECRETS": self._settings.hook_secrets,
            "GRAVELER_TASK_QUEUE_URL": self.events.task_queue.queue_url,
        }

    def _namespace_prefix(self) -> str:
        """Return the place that clients suggest for a new repository: the first one."""
        return self._permissions.namespaces[0].uri
