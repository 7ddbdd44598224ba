/** Asks before uncommitted changes are undone: of an object, of a folder, or all of a branch. */

import { answer, api } from '../../api/client';
import { Confirm } from '../../parts/dialog';
import { tell } from '../../parts/toast';

interface ResetProps {
  repository: string;
  branch: string;
  /** Empty for all; a folder ends in a slash. */
  path: string;
  onDone: () => void;
  onClose: () => void;
}

export function Reset({ repository, branch, path, onDone, onClose }: ResetProps) {
  const type = !path ? 'reset' : path.endsWith('/') ? 'common_prefix' : 'object';
  const act = async () => {
    await answer(
      api.PUT('/repositories/{repository}/branches/{branch}', {
        params: { path: { repository, branch } },
        body: { type, path, force: false },
      }),
    );
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
