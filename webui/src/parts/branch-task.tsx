/** The long work on a branch: a commit or merge that became a task shows its progress, also after a reload. */

import { useEffect, useRef } from 'preact/hooks';
import { answer, api, type Schemas } from '../api/client';
import { usePolling, useResource } from '../api/resource';
import { links } from '../links';
import { Notice, Progress } from './state';

const KINDS: Record<string, string> = {
  commit: 'A commit',
  merge: 'A merge',
  revert: 'A revert',
  'cherry-pick': 'A cherry-pick',
  import: 'An import',
  'merge-pull-request': 'A merge of a pull request',
};
const RECENT = 100;
const EVERY_MS = 3000;

interface RunningProps {
  repository: string;
  branch: string;
  /** Whether work was just begun: then look again until a task shows. */
  isExpected?: boolean;
  onEnd?: () => void;
}

const isRunning = ({ state }: Schemas['TaskRow']) => state === 'running' || state === 'waiting';

export function RunningTask({ repository, branch, isExpected = false, onEnd }: RunningProps) {
  const { data, reload } = useResource(['running', repository, branch], async signal => {
    const params = { path: { repository }, query: { amount: RECENT } };
    const { results } = await answer(
      api.GET('/repositories/{repository}/tasks', { params, signal }),
    );
    return results.find(task => task.branch === branch && task.kind in KINDS && isRunning(task));
  });
  usePolling(isExpected || Boolean(data), EVERY_MS, reload);
  const before = useRef(data);
  useEffect(() => {
    if (before.current && !data) onEnd?.();
    before.current = data;
  }, [data]);
  if (!data) return null;
  const { objects_done: done, objects_known: known, user } = data;
  return (
    <Notice>
      <div class="stack tight" role="status">
        <span>
          {KINDS[data.kind]} by {user} is under way on {branch}.{' '}
          <a href={links.tasks(repository)}>All tasks</a>
        </span>
        <Progress done={done} total={known || undefined} label="Objects done" />
      </div>
    </Notice>
  );
}
