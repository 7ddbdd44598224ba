/** The dialog that gives rights to a user or a group: it writes a policy and attaches it. */

import { useRef, useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction } from '../../api/resource';
import { FormDialog } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { tell } from '../../parts/toast';
import styles from './access.module.css';
import { NEW_GRANT, policyNameOf } from './grants';
import { readGroups, readUsers } from './lists';
import { NameField } from './names';
import { type Draft, StatementForm, statementsIn } from './statement-form';

/** A user or a group that has policies. */
export interface Holder {
  kind: 'user' | 'group';
  id: string;
}

/** Fail if there is no such user or group: a policy of nobody would stay behind. */
async function requireHolder({ kind, id }: Holder): Promise<void> {
  if (kind === 'user')
    await answer(api.GET('/auth/users/{userId}', { params: { path: { userId: id } } }));
  else await answer(api.GET('/auth/groups/{groupId}', { params: { path: { groupId: id } } }));
}

function attach(policyId: string, { kind, id }: Holder): Promise<unknown> {
  const user = { params: { path: { userId: id, policyId } } };
  const group = { params: { path: { groupId: id, policyId } } };
  return kind === 'user'
    ? answer(api.PUT('/auth/users/{userId}/policies/{policyId}', user))
    : answer(api.PUT('/auth/groups/{groupId}/policies/{policyId}', group));
}

interface GiveRightsProps {
  /** Who gets the rights; without it, the dialog asks. */
  holder?: Holder;
  onGiven: (policy: string) => void;
  onClose: () => void;
}

export function GiveRights({ holder: given, onGiven, onClose }: GiveRightsProps) {
  const [holder, setHolder] = useState<Holder>(given ?? { kind: 'user', id: '' });
  const [draft, setDraft] = useState<Draft>({ grants: [NEW_GRANT], hasOwnKeys: false });
  const [typed, setTyped] = useState<string>();
  const created = useRef<string>(undefined);
  const name = typed ?? ('grants' in draft ? policyNameOf(draft.grants) : '');
  const content = statementsIn(draft);
  const submit = useAction(async () => {
    if (!('statement' in content)) return;
    await requireHolder(holder);
    // After a failed attachment, another try does not create the policy again.
    const body = { id: name, statement: content.statement };
    const text = JSON.stringify(body);
    if (created.current !== text) {
      await answer(api.POST('/auth/policies', { body }));
      created.current = text;
    }
    await attach(name, holder);
    tell(`${holder.id} has the policy ${name} now.`);
    onClose();
    onGiven(name);
  });
  return (
    <FormDialog
      title={given ? `Give rights to ${given.id}` : 'Give rights'}
      isWide
      action="Give rights"
      isReady={'statement' in content && Boolean(holder.id && name)}
      {...{ submit, onClose }}
    >
      {!given && (
        <div class={styles.pair}>
          <SelectField
            label="Who"
            value={holder.kind}
            onText={kind => setHolder({ kind: kind as Holder['kind'], id: '' })}
            options={[
              { value: 'user', text: 'A user' },
              { value: 'group', text: 'A group: all of its members' },
            ]}
          />
          <NameField
            key={holder.kind}
            icon={holder.kind}
            label={holder.kind === 'user' ? 'User' : 'Group'}
            value={holder.id}
            onText={id => setHolder({ ...holder, id })}
            suggest={prefix => (holder.kind === 'user' ? readUsers : readGroups)(prefix, '')}
          />
        </div>
      )}
      <StatementForm draft={draft} onDraft={setDraft} />
      <TextField
        label="Name of the policy"
        value={name}
        onText={setTyped}
        required
        hint="Others can have the same policy later."
      />
    </FormDialog>
  );
}
