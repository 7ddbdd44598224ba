/** The dialog that writes a policy as JSON. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { AreaField, TextField } from '../../parts/field';
import { ifUnchanged, type Versioned } from '../../parts/seen';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';

type Policy = Schemas['PolicyRow'];
type Statements = Schemas['PolicyBody']['statement'];

const EXAMPLE = [
  {
    effect: 'allow',
    action: ['fs:ReadRepository', 'fs:ReadBranch', 'fs:ListObjects', 'fs:ReadObject'],
    resource: 'arn:lakefs:fs:::repository/sales*',
  },
];

function jsonOf(statement: unknown = EXAMPLE): string {
  return JSON.stringify({ statement }, null, 2);
}

/** Return the statements in the text, or what is wrong; the server checks each of them. */
function statementsOf(text: string): { statement: Statements } | { problem: string } {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value?.statement)
      ? { statement: value.statement }
      : { problem: 'Write an object with a list named statement.' };
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
}

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
  const [text, setText] = useState(jsonOf(policy?.statement));
  const content = statementsOf(text);
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
      <AreaField
        label="Statements"
        isCode
        rows={16}
        value={text}
        onText={setText}
        problem={isGood ? undefined : content.problem}
        hint="effect is allow or deny. Actions and resources may have wildcards: * and ?. A denial beats every permission."
      />
    </FormDialog>
  );
}
