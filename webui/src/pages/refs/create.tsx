/** The dialogs that create a branch or a tag from any ref. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { RefPicker } from '../../parts/ref-picker';
import { tell } from '../../parts/toast';
import { problemOfName } from './names';

interface CreateProps {
  kind: 'branch' | 'tag';
  repository: string;
  /** The ref that is proposed. */
  source: string;
  onCreated: (name: string) => void;
  onClose: () => void;
}

export function CreateRef({ kind, repository, source: proposed, onCreated, onClose }: CreateProps) {
  const [name, setName] = useState('');
  const [source, setSource] = useState(proposed);
  const submit = useAction(async () => {
    await create(kind, repository, name, source);
    tell(`${kind === 'branch' ? 'Branch' : 'Tag'} ${name} was created.`);
    onCreated(name);
    onClose();
  });
  const { failure, clear } = submit;
  const isTaken = failure?.status === 409;
  let problem: string | undefined;
  if (isTaken) problem = `There is a ${kind} ${name} already. Choose another name.`;
  else if (name) problem = problemOfName(kind, name);
  return (
    <FormDialog
      title={`Create ${kind}`}
      action={`Create ${kind}`}
      isReady={!problem}
      problem={<HookProblem failure={isTaken ? undefined : failure} repository={repository} />}
      {...{ submit, onClose }}
    >
      <TextField
        label="Name"
        value={name}
        onText={text => {
          setName(text);
          clear();
        }}
        problem={problem}
        required
        autofocus
      />
      <div class="field">
        <span class="label">{kind === 'branch' ? 'From' : 'Names'}</span>
        <RefPicker repository={repository} value={source} onChoose={setSource} label="Source" />
        <span class="hint">
          {kind === 'branch'
            ? 'The branch begins with the committed objects of this ref. Nothing is copied.'
            : 'The tag names the commit of this ref, and stays with it.'}
        </span>
      </div>
    </FormDialog>
  );
}

async function create(kind: 'branch' | 'tag', repository: string, name: string, ref: string) {
  const params = { path: { repository } };
  if (kind === 'branch') {
    const body = { name, source: ref, force: false, hidden: false };
    await answer(
      api.POST('/repositories/{repository}/branches', { params, body, parseAs: 'text' }),
    );
  } else {
    const body = { id: name, ref, force: false };
    await answer(api.POST('/repositories/{repository}/tags', { params, body }));
  }
}
