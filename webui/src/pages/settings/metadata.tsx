/** Keys and values that the users of a repository keep with it. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction, useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { handleSubmit } from '../../parts/form';
import { useRepository } from '../../parts/repository';
import { Problem, Skeleton } from '../../parts/state';
import { tell } from '../../parts/toast';

const METADATA = '/repositories/{repository}/metadata';

export function Metadata() {
  const { id: repository, read_only } = useRepository();
  const params = { path: { repository } };
  const { data, failure, reload } = useResource(['metadata', repository], signal =>
    answer(api.GET(METADATA, { params, signal })),
  );
  const [deleting, setDeleting] = useState<string>();
  const entries = Object.entries(data ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  return (
    <section class="stack" aria-labelledby="metadata">
      <h2 id="metadata">Metadata</h2>
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton lines={2} />}
      {data && entries.length === 0 && (
        <p class="quiet">No metadata yet. Add a key such as “owner” to tell others whom to ask.</p>
      )}
      {entries.length > 0 && (
        <ul class="rows" aria-label="Metadata">
          {entries.map(([key, value]) => (
            <li class="row roomy" key={key}>
              <code class="wrap-anywhere">{key}</code>
              <span class="grow wrap-anywhere">{value}</span>
              <Button
                isSmall
                kind="ghost"
                icon="trash"
                label={`Delete ${key}`}
                disabled={read_only}
                onClick={() => setDeleting(key)}
              />
            </li>
          ))}
        </ul>
      )}
      {data && <AddEntry repository={repository} isReadOnly={read_only} onAdded={reload} />}
      {deleting !== undefined && (
        <Confirm
          title={`Delete the metadata ${deleting}?`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          act={async () => {
            await answer(api.DELETE(METADATA, { params, body: { keys: [deleting] } }));
            tell(`Metadata ${deleting} was deleted.`);
            reload();
          }}
        >
          <p>
            The key <code>{deleting}</code> and its value are deleted.
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface AddProps {
  repository: string;
  isReadOnly: boolean;
  onAdded: () => void;
}

function AddEntry({ repository, isReadOnly, onAdded }: AddProps) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const { run, isBusy, failure } = useAction(async () => {
    const body = { metadata: { [key]: value } };
    await answer(api.POST(METADATA, { params: { path: { repository } }, body }));
    tell(`Metadata ${key} was saved.`);
    setKey('');
    setValue('');
    onAdded();
  });
  return (
    <form class="form" onSubmit={handleSubmit(run)}>
      <div class="bar rule-row">
        <TextField label="Key" value={key} onText={setKey} required />
        <TextField label="Value" value={value} onText={setValue} />
        <Button
          type="submit"
          isBusy={isBusy}
          disabled={isReadOnly}
          title={isReadOnly ? 'The repository is read-only.' : 'A key that exists gets the value'}
        >
          Save metadata
        </Button>
      </div>
      <Problem failure={failure} />
    </form>
  );
}
