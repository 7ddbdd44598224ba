"""Run the hooks that are due at one occurrence, and store the run.

Theory of operation. The hooks of one action run one after another, those of different actions side
by side. This thread starts them, records their ends, and reports to the waiting request or task
(`Pace`). Other threads call the targets. A hook that has ended is saved at once, so that the next
runner does not call it again. The finished run is stored under an ID that follows from the
occurrence, so a repetition finds it. If a process dies while a hook runs, it is unknown whether the
target was called. The next process calls it again: targets get each event at least once.
"""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from msgspec import Struct
from msgspec.structs import replace

from graveler.actions.action import ActionFile, Hook
from graveler.actions.condition import holds
from graveler.actions.secrets import SECRET_PREFIX, Secrets
from graveler.errors import HookFailedError, InvalidInputError
from graveler.limits import HOOK_ACTIONS_AT_ONCE, HOOK_ERROR_BYTES_MAX, HOOK_TIMEOUT_S_MAX
from graveler.model.hooks import (
    HookRun,
    HookStatus,
    Occurrence,
    Run,
    hook_run_id,
    log_uri,
    manifest,
    manifest_uri,
    problems_of,
    run_of,
)
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.calls import TOO_LATE, HookCall, HookOutput, call
from graveler.operations.hooks.pace import Pace
from graveler.threads import ContextThreads
from graveler.times import NS_PER_S

_TICK_S = 1.0

# A target's adapter ends each call in time. After this much longer, its hook has failed.
_GRACE_S = 3.0

_TEXT_TYPE = "text/plain; charset=utf-8"


def run_hooks(
    repo: OpenRepository, about: Occurrence, actions: tuple[ActionFile, ...], pace: Pace
) -> Run:
    """Run the actions' hooks unless they have run already; return the stored run.

    Raises:
        GravelerError: a store failed.
        Exception: whatever pace raises to stop.
    """
    finished = repo.engine.refs.hook_run(repo.record, about.run_id)
    if finished is not None:
        return finished
    pace.begin()
    ended = _Hooks(repo, about, pace).run(actions)
    run = run_of(about, ended)
    store_run(repo, run)
    return run


def store_run(repo: OpenRepository, run: Run) -> None:
    """Store the run's manifest and then its record, so that the record never names a lost file."""
    uri = manifest_uri(repo.record.storage_namespace, run.id)
    repo.engine.objects.put(uri, manifest(run), "application/json")
    repo.engine.refs.put_hook_run(repo.record, run)


def failure_of(run: Run) -> HookFailedError:
    """Return the error of an operation that the failed run stops, in lakeFS's words."""
    return HookFailedError(f"{run.event} hook aborted, run id '{run.id}': {problems_of(run)}")


class _Chain(Struct):
    """The hooks of one action: the next one, and whether one has failed."""

    number: int
    action: ActionFile
    next: int = 0
    failed: bool = False

    @property
    def is_done(self) -> bool:
        return self.next == len(self.action.hooks)

    @property
    def hook(self) -> Hook:
        return self.action.hooks[self.next]

    @property
    def hook_run_id(self) -> str:
        return hook_run_id(self.number, self.next)

    def note(self, ended: HookRun) -> None:
        """Go on to the next hook."""
        self.failed = self.failed or ended.status is HookStatus.FAILED
        self.next += 1


class _Running(Struct, frozen=True):
    """A hook that a thread is calling; after until_ns it has failed."""

    chain: _Chain
    begun: HookRun
    until_ns: int


class _Hooks:
    """The hooks of one run."""

    def __init__(self, repo: OpenRepository, about: Occurrence, pace: Pace) -> None:
        self._repo = repo
        self._about = about
        self._pace = pace
        self._ended = dict(pace.ended(about.run_id))
        self._running: dict[Future[HookRun], _Running] = {}

    def run(self, actions: tuple[ActionFile, ...]) -> tuple[HookRun, ...]:
        """Run all hooks that have not ended; return how each ended, in order."""
        chains = [_Chain(number, action) for number, action in enumerate(actions)]
        pool = ContextThreads(HOOK_ACTIONS_AT_ONCE, thread_name_prefix="hook")
        try:
            waiting = iter(chains)
            while True:
                self._start_some(waiting, pool)
                if not self._running:
                    break
                self._await_some(pool)
        finally:
            # A runner that has to stop does not wait for its targets.
            pool.shutdown(wait=False, cancel_futures=True)
        return tuple(self._ended[hook] for hook in _ids_of(actions))

    def _start_some(self, waiting: Iterator[_Chain], pool: ContextThreads) -> None:
        """Begin with further actions while few are running."""
        while len(self._running) < HOOK_ACTIONS_AT_ONCE:
            chain = next(waiting, None)
            if chain is None:
                return
            self._advance(chain, pool)

    def _await_some(self, pool: ContextThreads) -> None:
        done, _ = wait(self._running, _TICK_S, FIRST_COMPLETED)
        if not done:
            done = self._overdue()
        for future in done:
            running = self._running.pop(future)
            ended = future.result() if future.done() else self._abandoned(running)
            self._ended[ended.id] = ended
            self._pace.save(self._about.run_id, self._ended)
            running.chain.note(ended)
            self._advance(running.chain, pool)
        self._pace.tick()

    def _overdue(self) -> set[Future[HookRun]]:
        now_ns = self._repo.engine.clock.now_ns()
        return {future for future, each in self._running.items() if now_ns > each.until_ns}

    def _abandoned(self, running: _Running) -> HookRun:
        return self._failed(running.begun, HookOutput(), Secrets(lambda _: ""), TOO_LATE)

    def _advance(self, chain: _Chain, pool: ContextThreads) -> None:
        """Go on to the action's next hook that runs, and begin it."""
        while not chain.is_done:
            hook_run = chain.hook_run_id
            ended = self._ended.get(hook_run) or self._at_once(chain)
            if ended is None:
                self._begin(chain, pool)
                return
            self._ended[hook_run] = ended
            chain.note(ended)

    def _at_once(self, chain: _Chain) -> HookRun | None:
        """Return how the next hook ended if no target need be called, else None."""
        hook = chain.hook
        begun = self._begun(chain)
        try:
            if not holds(hook.condition, failed=chain.failed):
                return replace(begun, status=HookStatus.SKIPPED, start_ns=0)
            hook.timeout_s()
        except InvalidInputError as error:
            return self._failed(begun, HookOutput(), Secrets(lambda _: ""), str(error))
        return None

    def _begun(self, chain: _Chain) -> HookRun:
        return HookRun(
            id=chain.hook_run_id,
            hook_id=chain.hook.id,
            action=chain.action.name,
            status=HookStatus.COMPLETED,
            start_ns=self._repo.engine.clock.now_ns(),
        )

    def _begin(self, chain: _Chain, pool: ContextThreads) -> None:
        begun = self._begun(chain)
        output = HookOutput()
        timeout_s = chain.hook.timeout_s()
        if timeout_s > HOOK_TIMEOUT_S_MAX:
            output.write(f"The timeout is longer than {HOOK_TIMEOUT_S_MAX} s, which counts.\n")
            timeout_s = HOOK_TIMEOUT_S_MAX
        timeout_s = self._pace.time_for(timeout_s)
        secrets = Secrets(self._secret)
        made = HookCall(
            engine=self._repo.engine,
            repository=self._repo.record.name,
            about=self._about,
            action=chain.action.name,
            hook=chain.hook,
            timeout_s=timeout_s,
            secrets=secrets,
            output=output,
        )
        until_ns = begun.start_ns + int((max(0.0, timeout_s) + _GRACE_S) * NS_PER_S)
        self._running[pool.submit(self._called, made, begun)] = _Running(chain, begun, until_ns)

    def _called(self, made: HookCall, begun: HookRun) -> HookRun:
        """Call the hook; runs in a thread."""
        try:
            call(made)
        except (HookFailedError, InvalidInputError) as error:
            return self._failed(begun, made.output, made.secrets, str(error))
        self._log(begun, made.secrets.masked(made.output.text))
        return replace(begun, end_ns=self._repo.engine.clock.now_ns())

    def _failed(
        self, begun: HookRun, output: HookOutput, secrets: Secrets, problem: str
    ) -> HookRun:
        problem = secrets.masked(problem)
        text = f"{secrets.masked(output.text)}Error: action failed: {problem}\n"
        self._log(begun, text)
        cut = problem.encode("utf-8", "replace")[:HOOK_ERROR_BYTES_MAX].decode("utf-8", "ignore")
        return replace(
            begun, status=HookStatus.FAILED, end_ns=self._repo.engine.clock.now_ns(), error=cut
        )

    def _log(self, begun: HookRun, text: str) -> None:
        uri = log_uri(self._repo.record.storage_namespace, self._about.run_id, begun.id)
        self._repo.engine.objects.put(uri, text.encode("utf-8", "replace"), _TEXT_TYPE)

    def _secret(self, name: str) -> str | None:
        """Return the secret; "" for a name that hooks may not use, as in lakeFS."""
        if not name.startswith(SECRET_PREFIX):
            return ""
        return self._repo.engine.hook_targets.secrets.secret(name)


def _ids_of(actions: tuple[ActionFile, ...]) -> Iterator[str]:
    for number, action in enumerate(actions):
        for index in range(len(action.hooks)):
            yield hook_run_id(number, index)
