/** All policies. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { countText } from '../../parts/words';
import { EditPolicy } from './edit-policy';
import { GiveRights } from './give-rights';
import { readPolicies } from './lists';
import { NameList } from './names';

export function Policies() {
  const [dialog, setDialog] = useState<'rights' | 'create'>();
  const { route } = useLocation();
  const close = () => setDialog(undefined);
  return (
    <>
      <NameList
        title="Policies"
        about="A policy allows or denies actions. It counts for the users and groups that have it."
        icon="policy"
        load={readPolicies}
        hrefOf={links.policy}
        note={({ statement }) => (
          <span class="small quiet">{countText(statement.length, 'statement')}</span>
        )}
        action={
          <>
            <Button icon="plus" onClick={() => setDialog('create')}>
              Create policy
            </Button>
            <Button kind="primary" icon="policy" onClick={() => setDialog('rights')}>
              Give rights…
            </Button>
          </>
        }
      />
      {dialog === 'rights' && (
        <GiveRights onGiven={id => route(links.policy(id))} onClose={close} />
      )}
      {dialog === 'create' && (
        <EditPolicy onSaved={({ id }) => route(links.policy(id))} onClose={close} />
      )}
    </>
  );
}
