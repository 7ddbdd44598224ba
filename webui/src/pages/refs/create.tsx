/** The dialog that creates a branch or a tag. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { problemOfBranchName, problemOfTagName } from '../../api/names';
import { useAction } from '../../api/resource';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { RefPicker } from '../../parts/ref-picker';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';

interface CreateRefProps {
  kind: 'branch' | 'tag';
  repository: string;
  /** Where the branch begins, or what the tag names, until another one is chosen. */
  source: string;
  onCreated: (name: string) => void;
  onClose: () => void;
}

export function CreateRef({ kind, repository, source, onCreated, onClose }: CreateRefProps) {
  const [name, setName] = useState('');
  const [from, setFrom] = useState(source);
  const problem = kind === 'branch' ? problemOfBranchName(name) : problemOfTagName(name);
  const { run, isBusy, failure } = useAction(async () => {
    const path = { repository };
    if (kind === 'branch') {
      const body = { name, source: from, force: false, hidden: false };
      await answer(api.POST('/repositories/{repository}/branches', { params: { path }, body }));
    } else {
      const body = { id: name, ref: from, force: false };
      await answer(api.POST('/repositories/{repository}/tags', { params: { path }, body }));
    }
    tell(`${kind === 'branch' ? 'Branch' : 'Tag'} ${name} was created.`);
    onCreated(name);
  });
  return (
    <Dialog title={kind === 'branch' ? 'Create branch' : 'Create tag'} onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (!problem) run();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onText={setName}
          problem={problem}
          required
          autofocus
        />
        <div class="field">
          <span class="label">{kind === 'branch' ? 'Begins at' : 'Names'}</span>
          <RefPicker
            repository={repository}
            value={from}
            onChoose={setFrom}
            label={kind === 'branch' ? 'Source' : 'Commit'}
          />
          <span class="hint">
            {kind === 'branch'
              ? 'A branch copies no data: it costs nothing, whatever the size of the lake.'
              : 'A tag keeps a name for this commit; it never moves.'}
          </span>
        </div>
        <Problem failure={failure} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {kind === 'branch' ? 'Create branch' : 'Create tag'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
