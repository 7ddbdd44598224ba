"""Serves events: each gets an answer in API Gateway's form, a deadline and a line in the log."""

from collections.abc import Callable, Mapping
from typing import Any

from graveler.aws import deadlines
from graveler.errors import GravelerError, ThrottledError, TooLargeError, UnknownOutcomeError
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX, REQUEST_S_MAX
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.http.events import Event, method_of, request_id_of, source_address_of
from graveler_functions.telemetry import Telemetry, TelemetryRecord

App = Callable[[Event, Any], dict[str, Any]]


def serve(
    telemetry: Telemetry,
    respond: Callable[[Event, TelemetryRecord], ApiAnswer],
    of_error: Callable[[GravelerError], ApiAnswer],
    to_shorten: str = "request a smaller amount or fewer parts",
) -> App:
    """Return a function from an event to API Gateway's answer.

    respond answers a request, whatever happens. of_error answers one whose answer is too large;
    to_shorten is what its client can do.
    """

    def app(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own, unused
        with (
            telemetry.record("request", context, **_facts_of(event)) as record,
            deadlines.within(REQUEST_S_MAX),
        ):
            encodings = (event.get("headers") or {}).get("accept-encoding", "")
            answer = respond(event, record).for_gateway(takes_gzip="gzip" in encodings)
            if not answers.fits_payload(answer):
                # After a change, nothing must say that there was none.
                kind = UnknownOutcomeError if _may_have_changed(event) else TooLargeError
                record.error = error = kind(
                    f"the answer exceeds {LAMBDA_PAYLOAD_BYTES_MAX} bytes: accept gzip, or "
                    f"{to_shorten}"
                )
                answer = of_error(error).for_gateway(takes_gzip=False)
            answer["headers"]["X-Request-ID"] = request_id_of(event)
            if method_of(event) == "HEAD":
                _drop_body(answer)
            record.status = answer["statusCode"]
        return answer

    return app


def as_answered(event: Event, error: Exception) -> Exception:
    """Return the error to answer.

    A client repeats a throttled request. If the request may have made its change, the client must
    read before it repeats.
    """
    if isinstance(error, ThrottledError) and _may_have_changed(event):
        return UnknownOutcomeError(error.message)
    return error


def _may_have_changed(event: Event) -> bool:
    return method_of(event) not in {"GET", "HEAD"} and deadlines.may_have_written()


def _facts_of(event: Event) -> Mapping[str, str]:
    """Return the facts to log about any request.

    They leave out the path, which may hold an access key's ID, and the query, which may hold
    anything.
    """
    about = event["requestContext"]
    return {
        "request_id": request_id_of(event),
        "gateway_request_id": about.get("requestId", ""),
        "method": method_of(event),
        "ip": source_address_of(event),
        "user_agent": (event.get("headers") or {}).get("user-agent", ""),
    }


def _drop_body(answer: dict[str, Any]) -> None:
    """Make it an answer to HEAD. An error loses its type, too: the web UI would parse the body."""
    answer["body"] = ""
    if answer["statusCode"] >= 400:
        answer["headers"].pop("Content-Type", None)
