/** Makes a commit the head of a branch, after telling which commits the branch loses by it. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Confirm } from '../../parts/dialog';
import { distanceOf } from '../../parts/distance';
import { RefPicker } from '../../parts/ref-picker';
import { Notice, Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { countText, shortId } from '../../parts/words';
import { useRepository } from '../../shell/repository';

interface MoveProps {
  commit: Schemas['CommitRow'];
  branch: string;
  onDone: () => void;
  onClose: () => void;
}

export function MoveDialog({ commit, branch: proposed, onDone, onClose }: MoveProps) {
  const repository = useRepository().id;
  const [branch, setBranch] = useState(proposed);
  const act = async () => {
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
      <Loss {...{ repository, branch }} to={commit.id} />
    </Confirm>
  );
}

function Loss({ repository, branch, to }: { repository: string; branch: string; to: string }) {
  const { data, failure, reload } = useResource(['loss', repository, branch, to], signal =>
    distanceOf(repository, branch, to, signal),
  );
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
