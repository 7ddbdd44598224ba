/** Undoes commits on a branch by new commits, the newest first. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { useAction, useIsShown } from '../../api/resource';
import { RunningTask } from '../../parts/branch-task';
import { FormDialog } from '../../parts/dialog';
import { CheckField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
import { tell } from '../../parts/toast';
import { countText, isCommitId, titleOf } from '../../parts/words';
import styles from './revert.module.css';

type Commit = Schemas['CommitRow'];

interface RevertProps {
  commits: readonly Commit[];
  branch: string;
  onDone: () => void;
  onClose: () => void;
}

export function RevertDialog({ commits, branch, onDone, onClose }: RevertProps) {
  const repository = useRepository();
  const [on, setOn] = useState(isCommitId(branch) ? repository.default_branch : branch);
  const [isEmptyAllowed, setEmptyAllowed] = useState(false);
  const [done, setDone] = useState(0);
  const isShown = useIsShown();
  const submit = useAction(async () => {
    for (const [at, commit] of commits.entries()) {
      // After a failure, those that were reverted are not reverted again.
      if (at < done) continue;
      if (!isShown()) {
        onDone();
        return tell(`${at} of ${countText(commits.length, 'commit')} reverted on ${on}.`);
      }
      await revert(repository.id, on, commit, isEmptyAllowed);
      setDone(at + 1);
    }
    tell(`${countText(commits.length, 'commit')} reverted on ${on}.`);
    onDone();
    onClose();
  });
  return (
    <FormDialog
      title={`Revert ${countText(commits.length, 'commit')}`}
      problem={<HookProblem failure={submit.failure} repository={repository.id} />}
      {...{ submit, onClose }}
      action={`${done ? 'Revert the rest' : 'Revert'} on ${on}`}
    >
      <p>
        For each commit, the newest first, a new commit undoes its changes. The history stays. Of a
        merge, the changes since its first parent are undone.
      </p>
      <ol class={styles.order}>
        {commits.map((commit, at) => (
          <li key={commit.id}>
            <code>{commit.id.slice(0, 8)}</code> {titleOf(commit)}
            {at < done && <span class="badge green">Reverted</span>}
          </li>
        ))}
      </ol>
      <div class="field">
        <span class="label">On branch</span>
        <RefPicker
          repository={repository.id}
          value={on}
          kinds={['branch']}
          label="On branch"
          onChoose={chosen => {
            setOn(chosen);
            setDone(0);
          }}
        />
      </div>
      <CheckField
        label="Allow commits without changes"
        isChecked={isEmptyAllowed}
        onCheck={setEmptyAllowed}
      />
      {submit.isBusy && <RunningTask repository={repository.id} branch={on} isExpected />}
    </FormDialog>
  );
}

async function revert(
  repository: string,
  branch: string,
  commit: Commit,
  allow_empty: boolean,
): Promise<void> {
  await answer(
    api.POST('/repositories/{repository}/branches/{branch}/revert', {
      params: { path: { repository, branch } },
      body: {
        ref: commit.id,
        parent_number: commit.parents.length > 1 ? 1 : 0,
        allow_empty,
        commit_overrides: { message: '', metadata: {} },
        force: false,
      },
    }),
  );
}
