/** What can be done with a commit: branch, tag, revert, cherry-pick, browse, compare. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, type Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { FormDialog } from '../../parts/dialog';
import { SelectField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { Icon, type IconName } from '../../parts/icon';
import { Menu } from '../../parts/menu';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
import { tell } from '../../parts/toast';
import { isCommitId, shortId } from '../../parts/words';
import { CreateRef } from '../refs/create';
import { MoveDialog } from './move';
import { RevertDialog } from './revert';

type Commit = Schemas['CommitRow'];
type Asked = 'branch' | 'tag' | 'revert' | 'pick' | 'move';

interface CommitProps {
  commit: Commit;
  /** The branch that the actions suggest. */
  branch: string;
  onDone: () => void;
  /** Shows this text on the button. */
  text?: string;
}

const CHANGES: readonly { asked: Asked; icon: IconName; text: string }[] = [
  { asked: 'branch', icon: 'branch', text: 'Create a branch here…' },
  { asked: 'tag', icon: 'tag', text: 'Create a tag here…' },
  { asked: 'revert', icon: 'undo', text: 'Revert on a branch…' },
  { asked: 'pick', icon: 'plus', text: 'Cherry-pick to a branch…' },
  { asked: 'move', icon: 'back', text: 'Move a branch here…' },
];

export function CommitMenu({ commit, branch, onDone, text }: CommitProps) {
  const repository = useRepository();
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <>
      <Menu label={`Actions of commit ${shortId(commit.id)}`} text={text} isSmall={!text}>
        {CHANGES.map(each => (
          <button
            type="button"
            key={each.asked}
            class={each.asked === 'move' ? 'danger' : undefined}
            disabled={repository.read_only}
            title={repository.read_only ? 'The repository is read-only' : undefined}
            onClick={() => setAsked(each.asked)}
          >
            <Icon name={each.icon} />
            {each.text}
          </button>
        ))}
        <hr />
        <a href={links.objects(repository.id, commit.id)}>
          <Icon name="folder" />
          Browse its objects
        </a>
        <a href={links.compare(repository.id, commit.id, branch)}>
          <Icon name="compare" />
          Compare with {shortId(branch)}
        </a>
      </Menu>
      {(asked === 'branch' || asked === 'tag') && (
        <CreateRef
          kind={asked}
          repository={repository.id}
          source={commit.id}
          onCreated={onDone}
          onClose={close}
        />
      )}
      {asked === 'revert' && (
        <RevertDialog commits={[commit]} branch={branch} onDone={onDone} onClose={close} />
      )}
      {asked === 'pick' && (
        <PickDialog commit={commit} branch={branch} onDone={onDone} onClose={close} />
      )}
      {asked === 'move' && (
        <MoveDialog
          commit={commit}
          branch={isCommitId(branch) ? repository.default_branch : branch}
          onDone={onDone}
          onClose={close}
        />
      )}
    </>
  );
}

interface DialogProps {
  commit: Commit;
  onDone: () => void;
  onClose: () => void;
}

function PickDialog({ commit, branch, onDone, onClose }: DialogProps & { branch: string }) {
  const repository = useRepository();
  const { route } = useLocation();
  const isMerge = commit.parents.length > 1;
  const [to, setTo] = useState(isCommitId(branch) ? repository.default_branch : branch);
  const [parent, setParent] = useState('1');
  const submit = useAction(async () => {
    const made = await answer(
      api.POST('/repositories/{repository}/branches/{branch}/cherry-pick', {
        params: { path: { repository: repository.id, branch: to } },
        body: {
          ref: commit.id,
          parent_number: isMerge ? Number(parent) : null,
          commit_overrides: { message: '', metadata: {} },
          force: false,
        },
      }),
    );
    tell(`The changes of ${shortId(commit.id)} were repeated on ${to}.`);
    onDone();
    onClose();
    route(links.commit(repository.id, made.id));
  });
  return (
    <FormDialog
      title={`Cherry-pick ${shortId(commit.id)}`}
      action={`Cherry-pick to ${to}`}
      problem={<HookProblem failure={submit.failure} repository={repository.id} />}
      {...{ submit, onClose }}
    >
      <p>A new commit on the branch repeats the changes of this commit.</p>
      <div class="field">
        <span class="label">Branch</span>
        <RefPicker
          repository={repository.id}
          value={to}
          kinds={['branch']}
          label="Branch"
          onChoose={setTo}
        />
      </div>
      {isMerge && <ParentField commit={commit} value={parent} onText={setParent} />}
      {submit.isBusy && <RunningTask repository={repository.id} branch={to} isExpected />}
    </FormDialog>
  );
}

/** Asks which parent the changes of a merge are measured from. */
export function ParentField({
  commit,
  value,
  onText,
}: {
  commit: Commit;
  value: string;
  onText: (text: string) => void;
}) {
  return (
    <SelectField
      label="Changes since parent"
      hint="The first parent is the branch that took the merge."
      value={value}
      onText={onText}
      options={commit.parents.map((id, at) => ({
        value: String(at + 1),
        text: `${at + 1}: ${shortId(id)}`,
      }))}
    />
  );
}
