/** Asks before branches or tags are deleted, and names them. */

import { useState } from 'preact/hooks';
import { answer, api, Failure } from '../../api/client';
import { useIsShown } from '../../api/resource';
import { Confirm } from '../../parts/dialog';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';
import styles from './delete.module.css';

interface DeleteProps {
  kind: 'branch' | 'tag';
  repository: string;
  names: readonly string[];
  /** Called for each that was deleted. */
  onDeleted: (name: string) => void;
  onClose: () => void;
}

export function DeleteRefs({ kind, repository, names, onDeleted, onClose }: DeleteProps) {
  // After a failure, those that are gone are not deleted again.
  const [left] = useState(() => new Set(names));
  const isShown = useIsShown();
  const what =
    names.length === 1
      ? `${kind} ${names[0]}`
      : countText(names.length, kind, kind === 'branch' ? 'branches' : 'tags');
  const act = async () => {
    for (const name of [...left]) {
      if (!isShown()) return tell(`The rest stays: ${[...left].join(', ')}.`);
      await remove(kind, repository, name);
      left.delete(name);
      onDeleted(name);
    }
    tell(names.length === 1 ? `Deleted ${what}.` : `${what} were deleted.`);
  };
  return (
    <Confirm title={`Delete ${what}?`} action="Delete" act={act} onClose={onClose}>
      {names.length > 1 && (
        <ul class={styles.names}>
          {names.map(name => (
            <li key={name} class="wrap-anywhere">
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
      <p>
        {kind === 'branch'
          ? 'Uncommitted changes are lost. Commits that no other branch or tag reaches are kept until garbage is collected.'
          : 'The commits and objects stay as long as a branch or another tag reaches them.'}
      </p>
    </Confirm>
  );
}

async function remove(kind: 'branch' | 'tag', repository: string, name: string) {
  try {
    if (kind === 'branch') {
      const params = { path: { repository, branch: name } };
      await answer(api.DELETE('/repositories/{repository}/branches/{branch}', { params }));
    } else {
      const params = { path: { repository, tag: name } };
      await answer(api.DELETE('/repositories/{repository}/tags/{tag}', { params }));
    }
  } catch (error) {
    // Somebody else has deleted it, or the answer was lost.
    if (!(error instanceof Failure && error.status === 404)) throw error;
  }
}
