/** One user: groups, policies, what these add up to, keys, deletion. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { answer, api } from '../../api/client';
import { usePages, useResource } from '../../api/resource';
import { user } from '../../api/session';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Icon } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { Notice, Problem } from '../../parts/state';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { GiveRights } from './give-rights';
import { Keys } from './keys';
import { readGroups, readPolicies } from './lists';
import { Attached, PAGE } from './names';
import { EndSessions } from './sessions';

export function UserPage({ id }: { id: string }) {
  const [dialog, setDialog] = useState<'rights' | 'delete'>();
  const [version, setVersion] = useState(0);
  const [given, setGiven] = useState('');
  const { data, failure, reload } = useResource(
    apiRead('/auth/users/{userId}', { path: { userId: id } }),
  );
  const onChange = () => setVersion(old => old + 1);
  const close = () => setDialog(undefined);
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1 class="wrap-anywhere">{id}</h1>
          {data && (
            <p>
              User, created <Time at={data.creation_date} />
            </p>
          )}
        </div>
        {failure?.status !== 404 && (
          <>
            <LinkButton icon="help" href={`${links.access()}?${new URLSearchParams({ user: id })}`}>
              What may {id} do?
            </LinkButton>
            <Button icon="policy" onClick={() => setDialog('rights')}>
              Give rights…
            </Button>
            <EndSessions userId={id} />
            <Button icon="trash" onClick={() => setDialog('delete')}>
              Delete user
            </Button>
          </>
        )}
      </div>
      <Problem failure={failure} retry={reload} />
      {data && (
        <>
          <UserGroups id={id} onChange={onChange} />
          <UserPolicies key={given} id={id} onChange={onChange} />
          <Effective id={id} version={version} />
          <section class="stack" aria-label="Access keys">
            <h2>Access keys</h2>
            <Keys userId={id} />
          </section>
        </>
      )}
      {dialog === 'rights' && (
        <GiveRights
          holder={{ kind: 'user', id }}
          onGiven={policy => {
            setGiven(policy);
            onChange();
          }}
          onClose={close}
        />
      )}
      {dialog === 'delete' && <DeleteUser id={id} onClose={close} />}
    </div>
  );
}

interface PartProps {
  id: string;
  onChange: () => void;
}

function UserGroups({ id: userId, onChange }: PartProps) {
  const member = '/auth/groups/{groupId}/members/{userId}';
  return (
    <Attached
      title="Groups"
      noun="group"
      icon="group"
      owner={userId}
      hrefOf={links.group}
      onChange={onChange}
      suggest={prefix => readGroups(prefix, '')}
      load={after =>
        apiRead('/auth/users/{userId}/groups', { path: { userId }, query: { after, amount: PAGE } })
      }
      add={groupId => answer(api.PUT(member, { params: { path: { groupId, userId } } }))}
      remove={groupId => answer(api.DELETE(member, { params: { path: { groupId, userId } } }))}
    />
  );
}

function UserPolicies({ id: userId, onChange }: PartProps) {
  const policy = '/auth/users/{userId}/policies/{policyId}';
  return (
    <Attached
      title="Policies attached directly"
      noun="policy"
      icon="policy"
      owner={userId}
      hrefOf={links.policy}
      onChange={onChange}
      suggest={prefix => readPolicies(prefix, '')}
      load={after =>
        apiRead('/auth/users/{userId}/policies', {
          path: { userId },
          query: { after, amount: PAGE },
        })
      }
      add={policyId => answer(api.PUT(policy, { params: { path: { userId, policyId } } }))}
      remove={policyId => answer(api.DELETE(policy, { params: { path: { userId, policyId } } }))}
    />
  );
}

/** All policies that count for the user: its own, and those of its groups. */
function Effective({ id: userId, version }: { id: string; version: number }) {
  const pages = usePages(['effective', userId, version], (after, signal) => {
    const params = { path: { userId }, query: { after, amount: PAGE, effective: true } };
    return answer(api.GET('/auth/users/{userId}/policies', { params, signal }));
  });
  return (
    <section class="stack" aria-label="Policies in effect">
      <h2>Policies in effect</h2>
      <PagedList
        pages={pages}
        label="Policies in effect"
        keyOf={({ id }) => id}
        row={({ id }) => (
          <>
            <Icon name="policy" />
            <a class="wrap-anywhere" href={links.policy(id)}>
              {id}
            </a>
          </>
        )}
        empty={<p class="quiet">None. Without a group or a policy, this user has no rights.</p>}
      />
    </section>
  );
}

function DeleteUser({ id, onClose }: { id: string; onClose: () => void }) {
  const { route } = useLocation();
  const act = async () => {
    await answer(api.DELETE('/auth/users/{userId}', { params: { path: { userId: id } } }));
    tell(`User ${id} was deleted.`);
    route(links.users());
  };
  return (
    <Confirm title={`Delete user ${id}?`} action="Delete user" mustType={id} {...{ act, onClose }}>
      <p>
        The user <b>{id}</b> and all its access keys are deleted. Groups, policies and what the user
        has committed stay.
      </p>
      {id === user.value?.id && (
        <Notice kind="warning">This is you. You will be logged out.</Notice>
      )}
    </Confirm>
  );
}
