/** The dialog that creates a repository. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { useAction } from '../../api/resource';
import { configuration } from '../../api/session';
import { links } from '../../links';
import { FormDialog } from '../../parts/dialog';
import { CheckField, TextField } from '../../parts/field';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { problemOfName, problemOfNamespace } from './name';

export function CreateRepository({
  hasSampleData,
  onClose,
}: {
  hasSampleData: boolean;
  onClose: () => void;
}) {
  const { route } = useLocation();
  const storage = configuration.value?.storage_config;
  const prefix =
    storage?.default_namespace_prefix || storage?.blockstore_namespace_example || 's3://';
  const [name, setName] = useState(hasSampleData ? 'quickstart' : '');
  const [namespace, setNamespace] = useState<string>();
  const [branch, setBranch] = useState('main');
  const [isSample, setSample] = useState(hasSampleData);
  const suggested = `${prefix.replace(/\/$/, '')}/${name}`;
  const submit = useAction(async () => {
    const body = {
      name,
      storage_namespace: namespace ?? suggested,
      default_branch: branch,
      sample_data: isSample,
      read_only: false,
      storage_id: '',
    };
    await answer(api.POST('/repositories', { body }));
    tell(`Repository ${name} was created.`);
    route(links.objects(name));
  });
  const { failure, clear } = submit;
  const problem =
    failure?.status === 409
      ? `There is a repository ${name} already. Choose another name.`
      : name
        ? problemOfName(name)
        : undefined;
  // Its field tells what is wrong with the namespace.
  const isNamespace = failure?.status === 400 && /namespace|overlaps/.test(failure.message);
  return (
    <FormDialog
      title="Create repository"
      action="Create repository"
      isReady={!problem}
      problem={<Problem failure={problem || isNamespace ? undefined : failure} />}
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
      <TextField
        label="Storage namespace"
        hint="Where its objects are stored. Choose a place that no other repository uses."
        value={namespace ?? suggested}
        onText={text => {
          setNamespace(text);
          clear();
        }}
        problem={
          isNamespace ? problemOfNamespace(namespace ?? suggested, failure.message) : undefined
        }
        required
      />
      <TextField label="Default branch" value={branch} onText={setBranch} required />
      <CheckField
        label="Add sample data"
        hint="Some tables and files to try things on."
        isChecked={isSample}
        onCheck={setSample}
      />
    </FormDialog>
  );
}
