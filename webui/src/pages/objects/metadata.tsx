/** Edits an object's own metadata: one `key = value` on each line. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import type { Place } from '../../api/objects';
import { useAction } from '../../api/resource';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { AreaField } from '../../parts/field';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';

interface EditProps {
  place: Place;
  metadata: Record<string, string>;
  onClose: () => void;
  onSaved: () => void;
}

/** Return the metadata of the lines, and the first line that has no `=`. */
function parse(text: string): { set: Record<string, string>; wrong?: string } {
  const lines = text.split('\n').filter(line => line.trim());
  const wrong = lines.find(line => line.indexOf('=') < 1);
  const pairs = lines.map(line => {
    const at = line.indexOf('=');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return { set: Object.fromEntries(pairs), wrong };
}

export function EditMetadata({ place, metadata, onClose, onSaved }: EditProps) {
  const { repository, ref, path } = place;
  const lines = Object.entries(metadata).map(([key, value]) => `${key} = ${value}`);
  const [text, setText] = useState(lines.join('\n'));
  const { set, wrong } = parse(text);
  const { run, isBusy, failure } = useAction(async () => {
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
    <Dialog title="Edit metadata" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          run();
        }}
      >
        <AreaField
          label="Metadata"
          hint="One key = value on each line. These lines replace all metadata."
          problem={wrong && `“${wrong}” has no key = value`}
          isCode
          rows={8}
          value={text}
          onText={setText}
        />
        <Problem failure={failure} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={Boolean(wrong)}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
