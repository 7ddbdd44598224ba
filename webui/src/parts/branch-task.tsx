/** The long work on a branch: what became a task shows its progress, also after a reload. */

import { useEffect, useRef } from 'preact/hooks';
import { answer, api, type Schemas } from '../api/client';
import { useAction, usePolling, useResource } from '../api/resource';
import { links } from '../links';
import { Button } from './button';
import { Notice, Problem, Progress } from './state';
import { failureOfTask, isOpen } from './work';

const KINDS: Record<string, string> = {
  commit: 'A commit',
  merge: 'A merge',
  revert: 'A revert',
  'cherry-pick': 'A cherry-pick',
  import: 'An import',
  'merge-pull-request': 'A merge of a pull request',
  'copy-prefix': 'A copy of a folder',
  'move-prefix': 'A move of a folder',
};
const RECENT = 100;
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
    const params = { path: { repository }, query: { amount: RECENT } };
    const { results } = await answer(
      api.GET('/repositories/{repository}/tasks', { params, signal }),
    );
    const here = results.filter(task => task.branch === branch && task.kind in KINDS);
    return here.find(isOpen) ?? here.find(({ id }) => id === watched.current);
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
    const params = { path: { repository, taskId: task.id } };
    await answer(api.DELETE('/repositories/{repository}/tasks/{taskId}', { params }));
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
