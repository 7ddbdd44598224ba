/** Makes a commit the head of a branch, after telling which commits the branch loses by it. */

import { useState } from 'preact/hooks';
import { answer, api, Failure, type Schemas } from '../../api/client';
import { commitOf } from '../../api/objects';
import { type Resource, useResource } from '../../api/resource';
import { links } from '../../links';
import { Confirm } from '../../parts/dialog';
import { type Distance, distanceOf } from '../../parts/distance';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
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
  const loss = useResource(['loss', repository, branch, commit.id], async signal => {
    // The head is asked for first, so that what is counted is not of an older one.
    const head = await commitOf(repository, branch, signal);
    return { head, ...(await distanceOf(repository, branch, commit.id, signal)) };
  });
  const act = async () => {
    if (!loss.data || (await commitOf(repository, branch)) !== loss.data.head) {
      loss.reload();
      throw new Failure(`${branch} has moved. See above what it loses now, then move it.`, 0);
    }
    const params = { path: { repository, branch }, query: { ref: commit.id } };
    await answer(api.PUT('/repositories/{repository}/branches/{branch}/hard_reset', { params }));
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
  loss: Resource<Distance & { head: string }>;
}

function Loss({ repository, branch, to, loss }: LossProps) {
  const { data, failure, reload } = loss;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <p class="quiet">Counting the commits that {branch} loses…</p>;
  if (!data.ahead) return <Notice>{branch} loses no commit.</Notice>;
  const least = data.isPart ? 'At least ' : '';
  return (
    <Notice kind="warning">
      {least}
      {countText(data.ahead, 'commit')} of <b>{branch}</b>{' '}
      {data.ahead === 1 ? 'leaves its' : 'leave its'} history: see{' '}
      <a href={links.compare(repository, to, branch)}>what they changed</a>. What no other branch or
      tag leads to can be collected later. Create a tag at the head of {branch} first, to keep it.
    </Notice>
  );
}
