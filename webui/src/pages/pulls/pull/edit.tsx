/** The dialog that changes the title and the description of a pull request. */

import { useState } from 'preact/hooks';
import { useAction } from '../../../api/resource';
import { FormDialog } from '../../../parts/dialog';
import { AreaField, TextField } from '../../../parts/field';
import { useRepository } from '../../../parts/repository';
import { tell } from '../../../parts/toast';
import type { Pull } from '../reviews';
import { changePull } from './change';

interface EditProps {
  pull: Pull;
  reload: () => void;
  onClose: () => void;
}

export function Edit({ pull, reload, onClose }: EditProps) {
  const { id: repository } = useRepository();
  const [title, setTitle] = useState(pull.title);
  const [description, setDescription] = useState(pull.description);
  const submit = useAction(async () => {
    await changePull(repository, pull.id, { title, description });
    tell('The pull request was changed.');
    reload();
    onClose();
  });
  return (
    <FormDialog title="Edit pull request" isWide action="Save" {...{ submit, onClose }}>
      <TextField label="Title" value={title} onText={setTitle} required autofocus />
      <AreaField label="Description" value={description} onText={setDescription} rows={10} />
    </FormDialog>
  );
}
