/** Makes a commit the head of a branch, after telling which commits the branch loses by it. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { type Resource, useResource } from '../../api/resource';
import { links } from '../../links';
import { Confirm } from '../../parts/dialog';
import { readDistance } from '../../parts/distance';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
import { ifUnmoved, isMoved, onlyAt } from '../../parts/seen';
import { Notice, Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { countText, shortId } from '../../parts/words';

interface MoveProps {
  commit: Schemas['CommitRow'];
  branch: string;
  onDone: () => void;
  onClose: () => void;
}

export function MoveDialog({ commit, branch: proposed, onDone, onClose }: MoveProps) {
  const repository = useRepository().id;
  const [branch, setBranch] = useState(proposed);
  // The server counts from the head that it names.
  const loss = useResource(['loss', repository, branch, commit.id], signal =>
    readDistance(repository, branch, commit.id).load(signal),
  );
  const act = async () => {
    const params = {
      path: { repository, branch },
      query: { ref: commit.id },
      header: onlyAt(loss.data?.source_commit_id),
    };
    await ifUnmoved(
      answer(api.PUT('/repositories/{repository}/branches/{branch}/hard_reset', { params })),
    ).catch(error => {
      if (isMoved(error)) loss.reload();
      throw error;
    });
    tell(`${branch} was moved to ${shortId(commit.id)}.`);
    onDone();
  };
  return (
    <Confirm
      title={`Move a branch to ${shortId(commit.id)}?`}
      action="Move branch"
      mustType={branch}
      {...{ act, onClose }}
    >
      <div class="field">
        <span class="label">Branch</span>
        <RefPicker
          repository={repository}
          value={branch}
          kinds={['branch']}
          label="Branch"
          onChoose={setBranch}
        />
      </div>
      <p>
        This commit becomes the head of <b>{branch}</b>. Uncommitted changes of the branch stay.
      </p>
      <Loss {...{ repository, branch, loss }} to={commit.id} />
    </Confirm>
  );
}

interface LossProps {
  repository: string;
  branch: string;
  to: string;
  loss: Resource<Schemas['MergeBase']>;
}

function Loss({ repository, branch, to, loss }: LossProps) {
  const { data, failure, reload } = loss;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <p class="quiet">Counting the commits that {branch} loses…</p>;
  const { ahead = 0, is_exact } = data;
  if (!ahead && is_exact) return <Notice>{branch} loses no commit.</Notice>;
  return (
    <Notice kind="warning">
      {!is_exact && 'At least '}
      {countText(ahead, 'commit')} of <b>{branch}</b> {ahead === 1 ? 'leaves its' : 'leave its'}{' '}
      history: see <a href={links.compare(repository, to, branch)}>what they changed</a>. What no
      other branch or tag leads to can be collected later. Create a tag at the head of {branch}{' '}
      first, to keep it.
    </Notice>
  );
}
