/** Edits an object's own metadata. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import type { Place } from '../../api/objects';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { type Metadata, MetadataField } from '../../parts/metadata-field';
import { tell } from '../../parts/toast';

interface EditProps {
  place: Place;
  metadata: Record<string, string>;
  onClose: () => void;
  onSaved: () => void;
}

export function EditMetadata({ place, metadata, onClose, onSaved }: EditProps) {
  const { repository, ref, path } = place;
  const [rows, setRows] = useState<Metadata>(() =>
    Object.entries(metadata).map(([key, value]) => ({ key, value })),
  );
  const submit = useAction(async () => {
    // As they are, so that what was not touched stays.
    const set = Object.fromEntries(rows.filter(row => row.key).map(row => [row.key, row.value]));
    await answer(
      api.PUT('/repositories/{repository}/branches/{branch}/objects/stat/user_metadata', {
        params: { path: { repository, branch: ref }, query: { path } },
        body: { set },
      }),
    );
    tell(`The metadata of ${path} is saved`);
    onSaved();
    onClose();
  });
  return (
    <FormDialog title="Edit metadata" action="Save" {...{ submit, onClose }}>
      <MetadataField rows={rows} onRows={setRows} />
    </FormDialog>
  );
}
