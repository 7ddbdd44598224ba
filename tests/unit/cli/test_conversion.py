"""Values of arguments and options: right ones are converted, wrong ones named."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from graveler_cli.grammar import Command


class Kind(Enum):
    """A choice."""

    FAST = "fast"
    SAFE = "safe"


app = typer.Typer()


@app.command(cls=Command)
def show(  # every simple type
    context: typer.Context,
    many: Annotated[list[int], typer.Argument()],
    *,
    count: Annotated[int, typer.Option(min=1, max=10)] = 5,
    rate: Annotated[float | None, typer.Option()] = None,
    kind: Annotated[Kind, typer.Option(case_sensitive=False)] = Kind.FAST,
    mode: Annotated[Literal["a", "b"], typer.Option()] = "a",
    file: Annotated[Path | None, typer.Option()] = None,
    text: Annotated[list[str] | None, typer.Option()] = None,
    flag: Annotated[bool, typer.Option(envvar="A_FLAG")] = False,
) -> None:
    typer.echo(repr((many, count, rate, kind, mode, file, text, flag)))


def run(*args, **environment):
    return CliRunner(env=environment).invoke(app, args)


def test_defaults_are_what_the_function_says():
    assert run("1").stdout == "([1], 5, None, <Kind.FAST: 'fast'>, 'a', None, None, False)\n"


def test_each_type_is_converted():
    args = "1 2 --count 7 --rate 1.5 --kind SAFE --mode b --file x/y --text t --text u --flag"
    shown = run(*args.split())
    assert shown.stdout == (
        "([1, 2], 7, 1.5, <Kind.SAFE: 'safe'>, 'b', PosixPath('x/y'), ['t', 'u'], True)\n"
    )


@pytest.mark.parametrize(("written", "meant"), [("1", True), ("yes", True), ("off", False)])
def test_a_flag_may_be_a_variable(written, meant):
    assert run("1", A_FLAG=written).stdout.endswith(f" {meant})\n")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["x"], "'x' is not a whole number"),
        (["1.5"], "'1.5' is not a whole number"),
        (["1", "--count", "0"], "0 is less than 1"),
        (["1", "--count", "11"], "11 is more than 10"),
        (["1", "--rate", "fast"], "'fast' is not a number"),
        (["1", "--kind", "slow"], "'slow' is not one of fast, safe"),
        (["1", "--mode", "A"], "'A' is not one of a, b"),
    ],
)
def test_a_wrong_value_is_named(args, told):
    ended = run(*args)
    assert ended.exit_code == 2
    assert told in " ".join(ended.output.replace("│", " ").split())
