/** The long work of a repository: how far it is, how it ended; what runs can be cancelled. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import { type Schemas, sentence } from '../../api/client';
import { usePages, usePolling, useResource } from '../../api/resource';
import { links } from '../../links';
import { Badge, type Colour } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import type { IconName } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { useRepository } from '../../parts/repository';
import { Empty, Progress } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { countText, integerText } from '../../parts/words';
import { cancelTask, isOpen } from '../../parts/work';
import styles from './tasks.module.css';

type Task = Schemas['TaskRow'];

const PAGE = 100;
const POLL_MS = 3000;

const LOOKS: Record<string, { colour?: Colour; icon: IconName; text: string }> = {
  waiting: { icon: 'clock', text: 'Waiting' },
  running: { colour: 'indigo', icon: 'play', text: 'Running' },
  completed: { colour: 'green', icon: 'check', text: 'Completed' },
  failed: { colour: 'red', icon: 'warning', text: 'Failed' },
  cancelled: { colour: 'amber', icon: 'stop', text: 'Cancelled' },
};

export default function Tasks() {
  const { id: repository } = useRepository();
  useTitle('Tasks', repository);
  const [cancelling, setCancelling] = useState<Task>();
  const listed = (after: string) =>
    apiRead('/repositories/{repository}/tasks', {
      path: { repository },
      query: { after, amount: PAGE },
    });
  const pages = usePages(listed);
  // The newest ones are asked for again, and laid over what is shown, which so never jumps away.
  const newest = useResource(listed(''));
  const latest = newest.data?.results ?? [];
  const known = new Map(latest.map(task => [task.id, task]));
  const items = pages.items.length
    ? [
        ...latest.filter(({ id }) => !pages.items.some(task => task.id === id)),
        ...pages.items.map(task => known.get(task.id) ?? task),
      ]
    : latest;
  usePolling(items.some(isOpen), POLL_MS, newest.reload);
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>Tasks</h1>
          <p>Background tasks of the last 7 days. They go on when you leave this page.</p>
        </div>
        <Button icon="refresh" isBusy={newest.isLoading && !items.length} onClick={newest.reload}>
          Refresh
        </Button>
      </div>
      <PagedList
        pages={{ ...pages, items, failure: pages.failure ?? newest.failure }}
        label="Tasks"
        keyOf={task => task.id}
        row={task => <TaskRow {...{ repository, task }} onCancel={() => setCancelling(task)} />}
        empty={
          <Empty icon="task" title="No background tasks in the last 7 days">
            Imports, large commits and merges, and copies of folders show their progress here.
          </Empty>
        }
      />
      {cancelling && (
        <Cancel
          {...{ repository, task: cancelling }}
          onCancelled={newest.reload}
          onClose={() => setCancelling(undefined)}
        />
      )}
    </>
  );
}

/** Return the kind as a word of the page: `copy-prefix` is `Copy prefix`. */
function kindText(kind: string): string {
  const text = kind.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface RowProps {
  repository: string;
  task: Task;
  onCancel: () => void;
}

function TaskRow({ repository, task, onCancel }: RowProps) {
  const { colour, icon, text } = LOOKS[task.state] ?? { icon: 'task', text: task.state };
  const isStopping = isOpen(task) && task.is_cancelled;
  return (
    <>
      <span class={styles.state}>
        <Badge {...{ colour, icon }}>{isStopping ? 'Stopping' : text}</Badge>
      </span>
      <div class="grow">
        <span class="strong">{kindText(task.kind)}</span>{' '}
        {task.branch && (
          <span class="quiet">
            on <a href={links.objects(repository, task.branch)}>{task.branch}</a>
          </span>
        )}
        <div class="small quiet">
          {task.user ? `${task.user}, ` : 'Scheduled, '}
          <Time at={Date.parse(task.creation_time) / 1000} />
          {task.objects_done > 0 && `, ${doneText(task)}`}
        </div>
        {task.error && (
          <div class={`small ${styles.error} wrap-anywhere`}>
            {sentence(task.error.message)} {sentence(task.error.details ?? '')}
          </div>
        )}
        {isOpen(task) && (
          <div class={styles.progress}>
            <Progress
              done={task.objects_done}
              total={task.objects_known || undefined}
              label={`Progress of ${kindText(task.kind)}`}
            />
          </div>
        )}
      </div>
      {isOpen(task) && !task.is_cancelled && (
        <Button isSmall icon="stop" onClick={onCancel}>
          Cancel
        </Button>
      )}
    </>
  );
}

function doneText({ objects_done: done, objects_known: all }: Task): string {
  if (all <= done) return countText(done, 'object');
  return `${integerText(done)} of ${countText(all, 'object')}`;
}

interface CancelProps {
  repository: string;
  task: Task;
  onCancelled: () => void;
  onClose: () => void;
}

function Cancel({ repository, task, onCancelled, onClose }: CancelProps) {
  const where = task.branch ? ` on ${task.branch}` : '';
  const act = async () => {
    await cancelTask(repository, task.id);
    tell('The task stops within seconds.');
    onCancelled();
  };
  return (
    <Confirm
      title={`Cancel ${kindText(task.kind).toLowerCase()}${where}?`}
      action="Cancel the task"
      act={act}
      onClose={onClose}
    >
      <p>
        {task.kind.endsWith('-prefix')
          ? 'What it has staged so far stays on the branch as uncommitted changes.'
          : 'It leaves the repository as it was.'}
      </p>
    </Confirm>
  );
}
