/** The long work on a branch: what became a task shows its progress, also after a reload. */

import { useEffect, useRef } from 'preact/hooks';
import { answer, api, type Schemas } from '../api/client';
import { useAction, usePolling, useResource } from '../api/resource';
import { links } from '../links';
import { Button } from './button';
import { Notice, Problem, Progress } from './state';
import { cancelTask, failureOfTask, isOpen, taskOf } from './work';

const KINDS: Record<string, string> = {
  commit: 'A commit',
  merge: 'A merge',
  revert: 'A revert',
  'cherry-pick': 'A cherry-pick',
  import: 'An import',
  'merge-pull-request': 'A merge of a pull request',
  'copy-prefix': 'A copy of a folder',
  'move-prefix': 'A move of a folder',
  'delete-prefix': 'A deletion of a folder',
  'restore-prefix': 'A restore of a folder',
};
const EVERY_MS = 3000;

interface RunningProps {
  repository: string;
  branch: string;
  /** Whether work was just begun: then look again until a task shows. */
  isExpected?: boolean;
  /** Whether to tell here that the work has failed; a dialog that waits for it tells so itself. */
  tellsFailure?: boolean;
  onEnd?: () => void;
}

export function RunningTask(props: RunningProps) {
  const { repository, branch, isExpected = false, tellsFailure = false, onEnd } = props;
  const watched = useRef<string>(undefined);
  const { data, reload } = useResource(['running', repository, branch], async signal => {
    const query = { branch, state: 'open' as const };
    const { results } = await answer(
      api.GET('/repositories/{repository}/tasks', {
        params: { path: { repository }, query },
        signal,
      }),
    );
    const open = results.find(({ kind }) => kind in KINDS);
    if (open || !watched.current) return open;
    return taskOf(repository, watched.current, signal);
  });
  const isRunning = Boolean(data && isOpen(data));
  usePolling(isExpected || isRunning, EVERY_MS, reload);
  useEffect(() => {
    if (data && isRunning) watched.current = data.id;
    else if (data) onEnd?.();
  }, [data?.id, isRunning]);
  if (!data) return null;
  if (isRunning) return <Running {...{ repository, branch, reload }} task={data} />;
  return tellsFailure ? <Problem failure={failureOfTask(data)} /> : null;
}

interface TaskProps {
  repository: string;
  branch: string;
  task: Schemas['TaskRow'];
  reload: () => void;
}

function Running({ repository, branch, task, reload }: TaskProps) {
  const stop = useAction(async () => {
    await cancelTask(repository, task.id);
    reload();
  });
  return (
    <Notice>
      <div class="stack tight" role="status">
        <div class="bar">
          <span class="grow">
            {KINDS[task.kind]} by {task.user} is {task.is_cancelled ? 'stopping' : 'under way'} on{' '}
            {branch}. <a href={links.tasks(repository)}>All tasks</a>
          </span>
          {!task.is_cancelled && (
            <Button isSmall icon="stop" isBusy={stop.isBusy} onClick={stop.run}>
              Stop
            </Button>
          )}
        </div>
        <Progress
          done={task.objects_done}
          total={task.objects_known || undefined}
          label="Objects done"
        />
        <Problem failure={stop.failure} />
      </div>
    </Notice>
  );
}
