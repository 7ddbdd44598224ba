/** Asks before uncommitted changes are undone: of an object, of a folder, or all of a branch. */

import { resetBranch } from '../../api/objects';
import { Confirm } from '../../parts/dialog';
import type { DiffRow } from '../../parts/diff/source';
import { tell } from '../../parts/toast';
import { Pending } from './pending';

interface ResetProps {
  repository: string;
  branch: string;
  /** The object or the folder; nothing for all of the branch. */
  row: Pick<DiffRow, 'path' | 'path_type'> | undefined;
  onDone: () => void;
  onClose: () => void;
}

export function Reset({ repository, branch, row, onDone, onClose }: ResetProps) {
  const path = row?.path ?? '';
  // The type tells a folder: an object's path may end in a slash as well.
  const kind = row?.path_type === 'common_prefix' ? 'common_prefix' : 'object';
  const type = row ? kind : 'reset';
  const act = async () => {
    await resetBranch(repository, branch, type, path);
    tell(path ? `The changes of ${path} were undone.` : `All changes of ${branch} were undone.`);
    onDone();
  };
  return (
    <Confirm
      title={path ? `Undo the changes of ${path}?` : `Undo all changes of ${branch}?`}
      action="Undo changes"
      mustType={path ? undefined : branch}
      act={act}
      onClose={onClose}
    >
      {type !== 'object' && <Pending {...{ repository, branch }} prefix={path} />}
      <p class="wrap-anywhere">
        {path ? (
          <>
            <code>{path}</code> becomes on <code>{branch}</code> what it was in the last commit.
          </>
        ) : (
          <>
            <code>{branch}</code> becomes what it was in its last commit.
          </>
        )}{' '}
        Uncommitted changes cannot be brought back.
      </p>
    </Confirm>
  );
}
