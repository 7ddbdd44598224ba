"""Synthesizes without CDK's command line: `python -m infra.synth dev name=value …` (make synth)."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def context(stage: str, given: Mapping[str, str]) -> dict[str, object]:
    """Return the context that `cdk -c stage=… -c name=value` gives the app."""
    known: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return {**known, **given, "stage": stage}


def main(arguments: Sequence[str], *, portable: bool = False) -> int:
    """Write templates to CDK_OUTDIR, or to build/cdk.out; return the exit code.

    Portable templates take the place of their archives as parameters, and need no CDK.
    """
    if not arguments or any("=" not in each for each in arguments[1:]):
        command = "infra.dist" if portable else "infra.synth"
        sys.stderr.write(f"usage: python -m {command} STAGE [NAME=VALUE …]\n")
        return 2
    if shutil.which("node") is None:
        sys.stderr.write("node is missing, and CDK runs on it; on Debian: apt install nodejs\n")
        return 1
    stage, *pairs = arguments
    given = dict(pair.split("=", 1) for pair in pairs)
    os.environ["CDK_CONTEXT_JSON"] = json.dumps(context(stage, given))
    os.environ.setdefault("CDK_OUTDIR", str(ROOT / "build" / "cdk.out"))
    # Node 20 is past its end of life, but works.
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
    from infra import app  # noqa: PLC0415 - starts Node

    return app.main(portable=portable)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
