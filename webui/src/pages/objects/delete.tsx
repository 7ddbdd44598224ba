/** Deletes objects and whole folders: counts first, then deletes in batches, and stops on demand. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { deletePaths, type Entry, eachPage, isFolder, PAGE } from '../../api/objects';
import { useAction, useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Problem, Progress } from '../../parts/state';
import { countText, sizeText } from '../../parts/words';

interface DeleteProps {
  repository: string;
  branch: string;
  entries: readonly Entry[];
  onClose: () => void;
  onDeleted: (count: number) => void;
}

const NAMED = 8;

export function DeleteObjects({ repository, branch, entries, onClose, onDeleted }: DeleteProps) {
  const [counted, setCounted] = useState(0);
  const [done, setDone] = useState(0);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const total = useResource(['count', repository, branch, entries], async signal => {
    const folders = entries.filter(isFolder);
    let count = entries.length - folders.length;
    let size_bytes = entries.reduce((sum, entry) => sum + (entry.size_bytes ?? 0), 0);
    for (const { path } of folders)
      for await (const page of eachPage(repository, branch, path, signal)) {
        count += page.length;
        size_bytes += page.reduce((sum, item) => sum + item.size_bytes, 0);
        setCounted(count);
      }
    return { count, size_bytes };
  });
  const { run, isBusy, failure } = useAction(async () => {
    const { signal } = abort.current;
    let count = 0;
    for await (const paths of batches(repository, branch, entries, signal)) {
      await deletePaths(repository, branch, paths, signal);
      count += paths.length;
      setDone(count);
    }
    onDeleted(count);
    onClose();
  });
  const count = total.data?.count;
  const close = () => {
    abort.current.abort();
    // The batch that is under way may arrive.
    if (isBusy) onDeleted(done);
    onClose();
  };
  return (
    <Dialog title={`Delete from ${branch}?`} onClose={close}>
      <div class="form">
        <ul class="deleted-names">
          {entries.slice(0, NAMED).map(entry => (
            <li key={entry.path} class="wrap-anywhere">
              <span class="mono">{entry.path}</span>
              {isFolder(entry) && <span class="small quiet"> with all objects in it</span>}
            </li>
          ))}
          {entries.length > NAMED && <li>and {entries.length - NAMED} more</li>}
        </ul>
        <p role="status">
          {count === undefined
            ? `Counting: ${countText(counted, 'object')} so far…`
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
    </Dialog>
  );
}

/** Give the paths of the objects, and of those in the folders, at most 1,000 at a time. */
async function* batches(
  repository: string,
  branch: string,
  entries: readonly Entry[],
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const objects = entries.filter(entry => !isFolder(entry)).map(({ path }) => path);
  for (let from = 0; from < objects.length; from += PAGE) yield objects.slice(from, from + PAGE);
  for (const folder of entries.filter(isFolder))
    for await (const page of eachPage(repository, branch, folder.path, signal))
      if (page.length) yield page.map(item => item.path);
}
