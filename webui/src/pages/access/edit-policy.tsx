/** The dialog that writes a policy: as rights in a form if that can show them, else as JSON. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { ifUnchanged, type Versioned } from '../../parts/seen';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { type Draft, draftOf, jsonOf, StatementForm, statementsIn } from './statement-form';

type Policy = Schemas['PolicyRow'];

interface EditProps {
  read?: Versioned<Policy>;
  /** Show the policy as it is now. */
  reload?: () => void;
  onSaved: (policy: Policy) => void;
  onClose: () => void;
}

export function EditPolicy({ read, reload = () => {}, onSaved, onClose }: EditProps) {
  const policy = read?.setting;
  const [id, setId] = useState(policy?.id ?? '');
  const [draft, setDraft] = useState<Draft>(
    policy ? draftOf(policy.statement) : { text: jsonOf() },
  );
  const content = statementsIn(draft);
  const isGood = 'statement' in content;
  const submit = useAction(async () => {
    if (!isGood) return;
    const body = { id, statement: content.statement };
    const params = { path: { policyId: id }, header: { 'If-Match': read?.version } };
    const saved = policy
      ? await ifUnchanged(
          'the policy',
          answer(api.PUT('/auth/policies/{policyId}', { params, body })),
          reload,
        )
      : await answer(api.POST('/auth/policies', { body }));
    tell(`Policy ${id} was saved.`);
    onClose();
    onSaved(saved);
  });
  const { failure } = submit;
  return (
    <FormDialog
      title={policy ? `Edit policy ${policy.id}` : 'Create policy'}
      isWide
      action="Save policy"
      isReady={isGood}
      {...{ submit, onClose }}
      problem={
        <>
          <Problem failure={failure} />
          {failure?.status === 412 && policy && (
            <details open>
              <summary>The policy as it is now</summary>
              <pre class="code-box">{jsonOf(policy.statement)}</pre>
            </details>
          )}
        </>
      }
    >
      {!policy && <TextField label="Name" value={id} onText={setId} required autofocus />}
      <StatementForm draft={draft} onDraft={setDraft} />
    </FormDialog>
  );
}
