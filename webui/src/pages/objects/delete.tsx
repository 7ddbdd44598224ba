/** Deletes objects and whole folders, after telling how much that is. A folder is a task of the server. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { answer, api, Failure } from '../../api/client';
import { deletePaths, type Entry, isFolder, PAGE, totalOf } from '../../api/objects';
import { useAction, useIsShown, useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Problem, Progress } from '../../parts/state';
import { countText, sizeText, visible } from '../../parts/words';
import { cancelTask, useTasks, WorkView } from '../../parts/work';
import styles from './delete.module.css';

interface DeleteProps {
  repository: string;
  branch: string;
  entries: readonly Entry[];
  onClose: () => void;
  /** Told how many were deleted until the dialog closes; the rest of a folder may follow. */
  onDeleted: (count: number) => void;
}

const NAMED = 8;

export function DeleteObjects({ repository, branch, entries, onClose, onDeleted }: DeleteProps) {
  const [done, setDone] = useState(0);
  const [tasks, setTasks] = useState<string[]>();
  const isShown = useIsShown();
  const folders = entries.filter(isFolder);
  const objects = entries.filter(entry => !isFolder(entry));
  const total = useResource(['count', repository, branch, entries], async signal => {
    const totals = [];
    for (const { path } of folders) totals.push(await totalOf(repository, branch, path, signal));
    return {
      objects: totals.reduce((sum, each) => sum + each.objects, objects.length),
      size_bytes: [...objects, ...totals].reduce((sum, each) => sum + (each.size_bytes ?? 0), 0),
    };
  });
  const { run, isBusy, failure } = useAction(async () => {
    let deleted = 0;
    for (let from = 0; from < objects.length && isShown(); from += PAGE) {
      const batch = objects.slice(from, from + PAGE).map(({ path }) => path);
      await deletePaths(repository, branch, batch);
      deleted += batch.length;
      setDone(deleted);
    }
    const begun = [];
    for (const { path } of isShown() ? folders : [])
      begun.push(...(await deleteFolder(repository, branch, path)));
    if (begun.length) return setTasks(begun);
    onDeleted(deleted);
    onClose();
  });
  const count = total.data?.objects;
  const close = () => {
    // The batch that is under way may arrive.
    if (isBusy) onDeleted(done);
    onClose();
  };
  return (
    <Dialog title={`Delete from ${branch}?`} onClose={close}>
      {tasks ? (
        <Begun {...{ repository, tasks, onDeleted, onClose }} before={objects.length} />
      ) : (
        <div class="form">
          <ul class={`stack tight ${styles.names}`}>
            {entries.slice(0, NAMED).map(entry => (
              <li key={entry.path} class="wrap-anywhere">
                <span class="mono">{visible(entry.path)}</span>
                {isFolder(entry) && <span class="small quiet"> with all objects in it</span>}
              </li>
            ))}
            {entries.length > NAMED && <li>and {entries.length - NAMED} more</li>}
          </ul>
          <p role="status">
            {count === undefined
              ? 'Counting the objects…'
              : `${countText(count, 'object')} (${sizeText(total.data?.size_bytes ?? 0)}) will be deleted.`}{' '}
            What is committed stays in its commits. Until you commit, a reset brings the committed
            objects back.
          </p>
          {isBusy && (
            <div class="stack tight">
              <Progress done={done} total={count} label="Deletion" />
              <span class="small quiet">{countText(done, 'object')} deleted</span>
            </div>
          )}
          <Problem failure={total.failure} retry={total.reload} />
          <Problem failure={failure} />
          <div class="actions">
            <Button onClick={close}>{isBusy ? 'Stop' : 'Cancel'}</Button>
            <Button kind="danger" isBusy={isBusy} disabled={!count} onClick={run}>
              Delete {count === undefined ? '' : countText(count, 'object')}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** Start the task that deletes all objects in the folder; return its ID, or none if it is empty by now. */
async function deleteFolder(repository: string, branch: string, prefix: string) {
  const params = { path: { repository, branch } };
  const address = '/repositories/{repository}/branches/{branch}/objects/delete_prefix';
  try {
    return [(await answer(api.POST(address, { params, body: { prefix, force: false } }))).id];
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return [];
    throw error;
  }
}

interface BegunProps {
  repository: string;
  tasks: string[];
  /** How many objects were deleted before the folders. */
  before: number;
  onDeleted: (count: number) => void;
  onClose: () => void;
}

function Begun({ repository, tasks, before, onDeleted, onClose }: BegunProps) {
  const work = useTasks(repository, tasks);
  const { done = 0, isEnded, failure, results = [] } = work.data ?? {};
  const changed = results.reduce((sum, result) => sum + Number(result?.changed ?? 0), before);
  const deleted = isEnded ? changed : before + done;
  // However the dialog closes, the page behind it shows what is there now.
  const count = useRef(before);
  count.current = deleted;
  useEffect(() => () => onDeleted(count.current), []);
  const stop = async () => {
    await Promise.allSettled(tasks.map(id => cancelTask(repository, id)));
  };
  return (
    <WorkView {...{ work, stop, onClose }} label="Deletion">
      {!failure && `${countText(deleted, 'object')} deleted${isEnded ? '.' : ' so far…'}`}
      {failure && (
        <>
          What was deleted before stays so, as uncommitted changes.{' '}
          <a href={links.tasks(repository)}>See the task</a>
        </>
      )}
    </WorkView>
  );
}
