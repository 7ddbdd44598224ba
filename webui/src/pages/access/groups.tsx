/** All groups, and one group: its members and its policies. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { GiveRights } from './give-rights';
import { readGroups, readPolicies, readUsers } from './lists';
import { Attached, CreateNamed, NameList, PAGE } from './names';

export function Groups() {
  const [isCreating, setCreating] = useState(false);
  const { route } = useLocation();
  const create = async (id: string) => {
    await answer(api.POST('/auth/groups', { body: { id, description: '' } }));
    tell(`Group ${id} was created.`);
    route(links.group(id));
  };
  return (
    <>
      <NameList
        title="Groups"
        about="The members of a group have the rights of its policies."
        icon="group"
        load={readGroups}
        hrefOf={links.group}
        note={({ description }) => <span class="small quiet cut">{description}</span>}
        action={
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Create group
          </Button>
        }
      />
      {isCreating && (
        <CreateNamed title="Create group" create={create} onClose={() => setCreating(false)} />
      )}
    </>
  );
}

export function GroupPage({ id }: { id: string }) {
  const [dialog, setDialog] = useState<'rights' | 'delete'>();
  const [given, setGiven] = useState('');
  const { route } = useLocation();
  const params = { path: { groupId: id } };
  const close = () => setDialog(undefined);
  const { data, failure, reload } = useResource(apiRead('/auth/groups/{groupId}', params));
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1 class="wrap-anywhere">{id}</h1>
          <p>{data?.description || 'Group'}</p>
        </div>
        {failure?.status !== 404 && (
          <>
            <Button icon="policy" onClick={() => setDialog('rights')}>
              Give rights…
            </Button>
            <Button icon="trash" onClick={() => setDialog('delete')}>
              Delete group
            </Button>
          </>
        )}
      </div>
      <Problem failure={failure} retry={reload} />
      {data && (
        <>
          <Members id={id} />
          <GroupPolicies key={given} id={id} />
        </>
      )}
      {dialog === 'rights' && (
        <GiveRights holder={{ kind: 'group', id }} onGiven={setGiven} onClose={close} />
      )}
      {dialog === 'delete' && (
        <Confirm
          title={`Delete group ${id}?`}
          action="Delete group"
          onClose={close}
          act={async () => {
            await answer(api.DELETE('/auth/groups/{groupId}', { params }));
            tell(`Group ${id} was deleted.`);
            route(links.groups());
          }}
        >
          <p>
            Its members lose the rights that they have through <b>{id}</b>. The users and the
            policies stay.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function Members({ id: groupId }: { id: string }) {
  const member = '/auth/groups/{groupId}/members/{userId}';
  return (
    <Attached
      title="Members"
      noun="user"
      icon="user"
      owner={groupId}
      hrefOf={links.user}
      suggest={prefix => readUsers(prefix, '')}
      load={after =>
        apiRead('/auth/groups/{groupId}/members', {
          path: { groupId },
          query: { after, amount: PAGE },
        })
      }
      add={userId => answer(api.PUT(member, { params: { path: { groupId, userId } } }))}
      remove={userId => answer(api.DELETE(member, { params: { path: { groupId, userId } } }))}
    />
  );
}

function GroupPolicies({ id: groupId }: { id: string }) {
  const policy = '/auth/groups/{groupId}/policies/{policyId}';
  return (
    <Attached
      title="Policies"
      noun="policy"
      icon="policy"
      owner={groupId}
      hrefOf={links.policy}
      suggest={prefix => readPolicies(prefix, '')}
      load={after =>
        apiRead('/auth/groups/{groupId}/policies', {
          path: { groupId },
          query: { after, amount: PAGE },
        })
      }
      add={policyId => answer(api.PUT(policy, { params: { path: { groupId, policyId } } }))}
      remove={policyId => answer(api.DELETE(policy, { params: { path: { groupId, policyId } } }))}
    />
  );
}
