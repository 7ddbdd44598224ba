/** All users. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { readUsers } from './lists';
import { CreateNamed, NameList } from './names';

export function Users() {
  const [isCreating, setCreating] = useState(false);
  const { route } = useLocation();
  const create = async (id: string) => {
    await answer(api.POST('/auth/users', { body: { id, invite_user: false } }));
    tell(`User ${id} was created. Add a group, or give rights.`);
    route(links.user(id));
  };
  return (
    <>
      <NameList
        title="Users"
        about="New users have no rights until you add a group or policy."
        icon="user"
        load={readUsers}
        hrefOf={links.user}
        note={({ creation_date }) => (
          <span class="small quiet">
            Created <Time at={creation_date} />
          </span>
        )}
        action={
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Create user
          </Button>
        }
      />
      {isCreating && (
        <CreateNamed title="Create user" create={create} onClose={() => setCreating(false)} />
      )}
    </>
  );
}
