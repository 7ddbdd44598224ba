/** All policies. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { countText } from '../../parts/words';
import { EditPolicy } from './edit-policy';
import { readPolicies } from './lists';
import { NameList } from './names';

export function Policies() {
  const [isCreating, setCreating] = useState(false);
  const { route } = useLocation();
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
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Create policy
          </Button>
        }
      />
      {isCreating && (
        <EditPolicy
          onSaved={({ id }) => route(links.policy(id))}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}
