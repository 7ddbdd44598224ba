"""The call of a hook of each kind, and its output."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, quote, urlencode, urlsplit, urlunsplit

import msgspec

from graveler.actions.action import NOT_SERVED, Hook, as_text, mapping, sequence
from graveler.actions.document import Value, typed
from graveler.actions.secrets import MASK, Secrets
from graveler.engine import Engine
from graveler.errors import HookFailedError
from graveler.limits import HOOK_OUTPUT_BYTES_MAX, HOOK_PROPERTIES_MAX
from graveler.model.events import SOURCE, shortened
from graveler.model.hooks import Occurrence, event_body
from graveler.ports import HttpAnswer, HttpRequest
from graveler.times import NS_PER_S, rfc3339

# Of each request to Airflow, and between looks at a DAG.
_AIRFLOW_TIMEOUT_S = 5.0
_AIRFLOW_LOOK_S = 5.0

_JSON = "application/json"

TOO_LATE = "context deadline exceeded: there is no time left for this hook"


class HookOutput:
    """The output of one hook, which users read: at most HOOK_OUTPUT_BYTES_MAX."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = HOOK_OUTPUT_BYTES_MAX

    def write(self, text: str) -> None:
        """Append the text; cut it off where the output is full."""
        size_bytes = len(text.encode("utf-8", "replace"))
        if size_bytes > self._left:
            cut = text.encode("utf-8", "replace")[: self._left].decode("utf-8", "ignore")
            text = f"{cut}\n[cut off]\n" if self._left else ""
        self._left = max(0, self._left - size_bytes)
        self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)


class HookCall(msgspec.Struct, frozen=True):
    """One call of a hook, which ends after timeout_s at the latest."""

    engine: Engine
    repository: str
    about: Occurrence
    action: str
    hook: Hook
    timeout_s: float
    secrets: Secrets
    output: HookOutput

    @property
    def body(self) -> bytes:
        """The event, as JSON."""
        time = rfc3339(self.engine.clock.now_ns())
        return event_body(self.repository, self.action, self.hook.id, time, self.about)

    def text(self, name: str) -> str:
        """Return a property that is a text.

        Raises:
            InvalidInputError: it is something else.
        """
        return as_text(self.hook.properties.get(name), f"'{name}'")

    def required(self, name: str) -> str:
        """Return a property that is a text, and not empty.

        Raises:
            HookFailedError: it is empty.
            InvalidInputError: it is something else.
        """
        if text := self.text(name):
            return text
        raise HookFailedError(f"value of {name} is empty: missing key in properties")

    def fields(self, name: str) -> dict[str, Value]:
        """Return a property that is a mapping.

        Raises:
            HookFailedError: it has too many entries.
            InvalidInputError: it is something else.
        """
        found = mapping(self.hook.properties.get(name), f"'{name}'")
        if len(found) > HOOK_PROPERTIES_MAX:
            raise HookFailedError(
                f"'{name}' has {len(found)} entries: at most {HOOK_PROPERTIES_MAX}"
            )
        return found


def call(made: HookCall) -> None:
    """Call the hook.

    Raises:
        HookFailedError: it failed.
        InvalidInputError: a property is malformed.
    """
    if made.timeout_s <= 0:
        raise HookFailedError(f"{TOO_LATE}: the hooks of one change share their time")
    kind = made.hook.kind
    if kind in NOT_SERVED:
        raise HookFailedError(NOT_SERVED[kind])
    _KINDS[kind](made)


def _webhook(made: HookCall) -> None:
    url, output = made.required("url"), made.output
    body = made.body
    output.write(f"Request:\nPOST {url}\nQuery Params:\n")
    query: list[tuple[str, str]] = []
    for name, value in made.fields("query_params").items():
        many: Value = value if isinstance(value, list) else [value]
        for text in sequence(many, f"'{name}'"):
            filled = made.secrets.filled(as_text(text, f"'{name}'"))
            query.append((name, filled.value))
            output.write(f"{name}: {filled.shown}\n")
    output.write("Headers:\n")
    headers = [("Content-Type", _JSON)]
    for name, value in made.fields("headers").items():
        filled = made.secrets.filled(as_text(value, f"'{name}'"))
        if name.lower() != "content-type":
            headers.append((name, filled.value))
            output.write(f"{name}: {filled.shown}\n")
    output.write(f"Content-Type: {_JSON}\nRequest Body:\n{body.decode()}\n\n")
    asked = HttpRequest("POST", _with_query(url, query), headers, body)
    answer = _send(made, asked, made.timeout_s)
    if not 200 <= answer.status < 300:
        raise HookFailedError(f"webhook request failed (status code: {answer.status})")


def _with_query(url: str, query: list[tuple[str, str]]) -> str:
    if not query:
        return url
    parts = _split(url)
    joined = "&".join(filter(None, (parts.query, urlencode(query))))
    return urlunsplit(parts._replace(query=joined))


def _below(url: str, *names: str) -> str:
    """Return the URL with the names after its path; its query stays."""
    parts = _split(url)
    path = "/".join([parts.path.rstrip("/"), *(quote(name, safe="") for name in names)])
    return urlunsplit(parts._replace(path=path))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise HookFailedError(f"{url!r} is not a URL") from error


def _send(made: HookCall, request: HttpRequest, timeout_s: float) -> HttpAnswer:
    """Send the request, and write the answer to the output."""
    clock = made.engine.clock
    began_ns = clock.now_ns()
    try:
        answer = made.engine.hook_targets.http.send(request, timeout_s)
    finally:
        took_s = (clock.now_ns() - began_ns) / NS_PER_S
        made.output.write(f"\nRequest duration: {took_s:.3f}s\n")
    headers = "".join(f"{name}: {value}\n" for name, value in answer.headers)
    made.output.write(
        f"\nResponse:\nHTTP/1.1 {answer.status} {answer.reason}\n{headers}\n"
        f"{answer.body.decode('utf-8', 'replace')}\n"
    )
    return answer


def _airflow(made: HookCall) -> None:
    output = made.output
    url = _below(made.required("url"), "api", "v1", "dags", made.required("dag_id"), "dagRuns")
    password = made.secrets.filled(made.required("password"))
    user = made.required("username")
    login = b64encode(f"{user}:{password.value}".encode()).decode()
    if password.shown == MASK:
        made.secrets.hide(login)
    headers = [("Authorization", f"Basic {login}"), ("Content-Type", _JSON)]
    dag_run = f"lakeFS_hook_{made.hook.id}_{made.about.run_id}"
    conf = {name: typed(value) for name, value in made.fields("dag_conf").items()}
    body = msgspec.json.encode(
        {"dag_run_id": dag_run, "conf": conf | {"lakeFS_event": msgspec.Raw(made.body)}}
    )
    output.write(f"Request:\nPOST {url}\nUsername: {user}, Password: {MASK}\n")
    output.write(f"Body: {body.decode()}\n\n")
    until_ns = made.engine.clock.now_ns() + int(made.timeout_s * NS_PER_S)
    asked = HttpRequest("POST", url, headers, body)
    answer = _send(made, asked, min(_AIRFLOW_TIMEOUT_S, made.timeout_s))
    # 409: an earlier delivery of this event has started the run of this ID.
    if answer.status not in (200, 409):
        raise HookFailedError(f"status code ({answer.status}): airflow hook request failed")
    if made.text("wait_for_dag").lower() == "true":
        output.write("\nWaiting for DAG to complete...\n")
        _wait_for_dag(made, _below(url, dag_run), headers, until_ns)


def _wait_for_dag(made: HookCall, url: str, headers: list[tuple[str, str]], until_ns: int) -> None:
    clock = made.engine.clock
    while clock.now_ns() + int(_AIRFLOW_LOOK_S * NS_PER_S) < until_ns:
        clock.sleep(_AIRFLOW_LOOK_S)
        made.output.write(f"Request:\nGET {url}\n")
        answer = _send(made, HttpRequest("GET", url, headers), _AIRFLOW_TIMEOUT_S)
        if answer.status != 200:
            raise HookFailedError(f"status code ({answer.status}): airflow hook request failed")
        state = _field(answer.body, "state")
        if state in ("success", "failed"):
            made.output.write(f"\nDAG completed with state: {state}\n")
            if state == "success":
                return
            raise HookFailedError("airflow hook DAG failed")
    raise HookFailedError("the DAG did not end in time: context deadline exceeded")


def _field(document: bytes, name: str) -> object:
    content = _decoded(document, "the answer")
    return content.get(name) if isinstance(content, Mapping) else None


def _decoded(document: bytes, name: str) -> object:
    """Return the JSON document of a target.

    Raises:
        HookFailedError: it is not JSON, or nested too deeply.
    """
    try:
        return msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HookFailedError(f"{name} is not JSON") from error


def _lambda(made: HookCall) -> None:
    name = made.required("function")
    if name not in made.engine.hook_settings.functions:
        raise HookFailedError(
            f"function {name!r} may not be invoked: the setting hook_functions does not name it"
        )
    made.output.write(f"Function: {name}\nPayload:\n{made.body.decode()}\n\n")
    answer = made.engine.hook_targets.functions.invoke(name, made.body, made.timeout_s)
    made.output.write(f"Answer:\n{answer.decode('utf-8', 'replace')}\n")
    content = _decoded(answer, "the function's answer") if answer else None
    if content is False or (isinstance(content, Mapping) and content.get("passed") is False):
        reason = content.get("message") if isinstance(content, Mapping) else None
        raise HookFailedError(f"the function answered: {reason or 'not passed'}")


def _eventbridge(made: HookCall) -> None:
    bus = made.required("bus")
    if bus not in made.engine.hook_settings.buses:
        raise HookFailedError(
            f"bus {bus!r} may not get events: the setting hook_buses does not name it"
        )
    detail = shortened(msgspec.json.decode(made.body))
    source = made.text("source") or "lakefs"
    if source == SOURCE:
        # On the deployment's own bus, subscribers would believe it, and tasks and exports start.
        raise HookFailedError(f"source {SOURCE!r} is reserved for Graveler's own events")
    detail_type = made.text("detail_type") or made.about.event
    made.output.write(
        f"Bus: {bus}\nSource: {source}\nDetail type: {detail_type}\nDetail:\n{detail}\n"
    )
    made.engine.hook_targets.buses.put(bus, source, detail_type, detail)


_KINDS: Mapping[str, Callable[[HookCall], None]] = {
    "webhook": _webhook,
    "airflow": _airflow,
    "lambda": _lambda,
    "eventbridge": _eventbridge,
}
