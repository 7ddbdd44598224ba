"""Says what a failing schedule does, step by step, in words."""

from typing import Any

from graveler.model import Branch, Commit, Repository
from tests.simulation.machine import Outcome

_SHOWN = 70


def label(outcome: Outcome) -> str:
    """What kind of failure it is: the invariant, and the operations and faults that it takes."""
    operations = sorted(op.kind for program in outcome.schedule.programs for op in program)
    faults = sorted({fault.kind for fault in (outcome.schedule.faults or {}).values()})
    with_faults = f" with {', '.join(faults)}" if faults else ""
    return f"{outcome.problems[0].kind}: {', '.join(operations)}{with_faults}"


def report(outcome: Outcome) -> str:
    """The seed, the programs, the steps and what is wrong in the end; of a run with a log."""
    schedule = outcome.schedule
    lines = [f"seed {schedule.seed}, world {schedule.world!r}: {label(outcome)}", ""]
    for number, program in enumerate(schedule.programs):
        if program:
            lines.append(f"  c{number}: {'; '.join(map(str, program))}")
    lines += ["", "  steps:"]
    for client, op, name, args, fault in outcome.log:
        trouble = f"   ! {fault}" if fault else ""
        shown = ", ".join(filter(None, map(_shown, args)))
        lines.append(f"    {client}  {op.kind} #{op.id}: {name} {shown}"[:120] + trouble)
    lines.append("")
    lines += [f"  {problem.kind}: {problem.text}" for problem in outcome.problems]
    return "\n".join(lines)


def _shown(argument: Any) -> str:
    if isinstance(argument, Repository):
        return ""
    if isinstance(argument, Branch):
        tokens = ",".join(token[-4:] for token in argument.tokens)
        return f"{argument.name}@{argument.commit_id[:6]} tokens {tokens}"
    if isinstance(argument, Commit):
        return f"commit {argument.id[:6]}"
    if isinstance(argument, str) and ":00000000-" in argument:
        return f"token {argument[-4:]}"
    if isinstance(argument, bytes):
        return argument.decode(errors="replace")[-24:] if len(argument) < 60 else "value"
    return repr(argument)[:_SHOWN] if argument is not None else ""
