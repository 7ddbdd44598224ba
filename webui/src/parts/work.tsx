/** Long work that the server does for a dialog: watched until it ends, stopped on demand. */

import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { answer, api, Failure, failureOfAnswer, type Schemas } from '../api/client';
import { type Resource, useAction, usePolling, useResource } from '../api/resource';
import { Button } from './button';
import { Problem, Progress } from './state';

const EVERY_MS = 1000;

export interface Work {
  isEnded: boolean;
  /** Why it ended without its effect. */
  failure?: Failure;
  done: number;
  total?: number;
}

type Task = Schemas['TaskRow'];

export function taskOf(repository: string, taskId: string, signal?: AbortSignal): Promise<Task> {
  const params = { path: { repository, taskId } };
  return answer(api.GET('/repositories/{repository}/tasks/{taskId}', { params, signal }));
}

export async function cancelTask(repository: string, taskId: string): Promise<void> {
  const params = { path: { repository, taskId } };
  await answer(api.DELETE('/repositories/{repository}/tasks/{taskId}', { params }));
}

export function isOpen({ state }: Pick<Task, 'state'>): boolean {
  return state === 'waiting' || state === 'running';
}

/** Return why the task ended without its effect, if it did. */
export function failureOfTask(task: Task): Failure | undefined {
  const status = task.status_code ?? 0;
  if (task.state === 'cancelled') return new Failure('It was cancelled.', status);
  return task.state === 'failed' ? failureOfAnswer(status, task.error) : undefined;
}

/** Ask for the work again and again until it has ended. */
export function useWork<Of extends Work>(
  id: string,
  load: (signal: AbortSignal) => Promise<Of>,
): Resource<Of> {
  const work = useResource(['work', id], load);
  usePolling(!work.data?.isEnded, EVERY_MS, work.reload);
  return work;
}

interface Tasks extends Work {
  /** What each that has ended says of its effect. */
  results: (Task['result'] | undefined)[];
}

/** Watch tasks as one work. What has ended is not asked for again. */
export function useTasks(repository: string, ids: readonly string[]): Resource<Tasks> {
  const ended = useRef(new Map<string, Task>());
  return useWork<Tasks>(ids.join(), async signal => {
    const tasks = await Promise.all(
      ids.map(id => ended.current.get(id) ?? taskOf(repository, id, signal)),
    );
    for (const task of tasks) if (!isOpen(task)) ended.current.set(task.id, task);
    return {
      isEnded: !tasks.some(isOpen),
      failure: tasks.map(failureOfTask).find(Boolean),
      done: tasks.reduce((sum, task) => sum + task.objects_done, 0),
      total: tasks.reduce((sum, task) => sum + task.objects_known, 0) || undefined,
      results: tasks.map(({ result }) => result),
    };
  });
}

interface WorkProps {
  work: Omit<Resource<Work>, 'set'>;
  /** What is under way: "Import". */
  label: string;
  /** How far it is, or how it ended. */
  children: ComponentChildren;
  stop: () => Promise<void>;
  onClose: () => void;
}

/** Shows how far the work is, how it failed, and how to stop it or leave it alone. */
export function WorkView({ work, label, children, stop, onClose }: WorkProps) {
  const { data, failure, reload } = work;
  const stopping = useAction(async () => {
    await stop();
    reload();
  });
  const isEnded = Boolean(data?.isEnded);
  return (
    <div class="form">
      <div class="stack tight" role="status">
        <span>{children}</span>
        {!isEnded && <Progress done={data?.done ?? 0} total={data?.total} label={label} />}
      </div>
      <Problem failure={failure ?? data?.failure} />
      <Problem failure={stopping.failure} />
      <div class="actions">
        {!isEnded && (
          <Button icon="stop" isBusy={stopping.isBusy} onClick={stopping.run}>
            Stop
          </Button>
        )}
        <Button kind="primary" onClick={onClose}>
          {isEnded ? 'Done' : 'Continue in the background'}
        </Button>
      </div>
    </div>
  );
}
