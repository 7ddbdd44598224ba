"""The routes of the small API Gateway: which function serves a request."""

from collections.abc import Mapping

from local.lambda_runtime import Function

_ANYTHING = "{proxy+}"


class Routes:
    """The routes of an HTTP API, as keys such as `GET /assets/{proxy+}`, and the default one."""

    def __init__(self, default: Function, others: Mapping[str, Function]) -> None:
        self._default = default
        self._exact = {key: each for key, each in others.items() if not key.endswith(_ANYTHING)}
        # The longest first: it is the most specific.
        self._beginnings = sorted(
            (
                (key.removesuffix(_ANYTHING), each)
                for key, each in others.items()
                if key.endswith(_ANYTHING)
            ),
            key=lambda found: -len(found[0]),
        )

    def find(self, method: str, path: str) -> Function:
        """Return the function of the most specific route."""
        key = f"{method} {path}"
        if key in self._exact:
            return self._exact[key]
        fitting = (each for beginning, each in self._beginnings if key.startswith(beginning))
        return next(fitting, self._default)
