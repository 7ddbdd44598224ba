/** What a user may do, by repository; each right has the policy and the groups that give it. */

import { answerOf, apiRead } from '../../api/cache';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Icon } from '../../parts/icon';
import { Notice, Problem, Skeleton } from '../../parts/state';
import { PAGE } from './names';
import { type HeldPolicy, type Place, type Right, rightsOf } from './rights';

/** Return the policies of a user, and those of each group of the user. A page has all of each. */
async function readHeld(userId: string, signal: AbortSignal): Promise<HeldPolicy[]> {
  const path = { userId };
  const query = { amount: PAGE };
  const [own, groups] = await Promise.all([
    answerOf(apiRead('/auth/users/{userId}/policies', { path, query }), signal),
    answerOf(apiRead('/auth/users/{userId}/groups', { path, query }), signal),
  ]);
  const ofGroups = await Promise.all(
    groups.results.map(async ({ id: groupId }) => {
      const read = apiRead('/auth/groups/{groupId}/policies', { path: { groupId }, query });
      return { groupId, policies: (await answerOf(read, signal)).results };
    }),
  );
  const held = new Map<string, HeldPolicy>(
    own.results.map(policy => [policy.id, { policy, isDirect: true, groups: [] }]),
  );
  for (const { groupId, policies } of ofGroups)
    for (const policy of policies) {
      const known = held.get(policy.id) ?? { policy, isDirect: false, groups: [] };
      held.set(policy.id, { ...known, groups: [...known.groups, groupId] });
    }
  return [...held.values()];
}

export function Rights({ userId }: { userId: string }) {
  const { data, failure, reload } = useResource(['rights', userId], signal =>
    readHeld(userId, signal),
  );
  const places = rightsOf(data ?? []);
  return (
    <section class="stack" aria-label={`Rights of ${userId}`}>
      <h2>What {userId} may do</h2>
      {failure?.status === 401 ? (
        <Notice>
          To list the rights of a user, you need auth:ReadUser on the user and auth:ReadGroup on the
          groups. You may ask about one resource below.
        </Notice>
      ) : (
        <Problem failure={failure} retry={reload} />
      )}
      {!data && !failure && <Skeleton />}
      {data && !places.length && (
        <p class="quiet">Nothing: no policy is attached to {userId} or to a group of the user.</p>
      )}
      {places.some(({ rights }) => rights.some(({ isAllowed }) => !isAllowed)) && (
        <Notice>A denial beats every permission.</Notice>
      )}
      {places.map(place => (
        <PlaceRights key={place.title} {...place} />
      ))}
    </section>
  );
}

function PlaceRights({ repository, title, rights }: Place) {
  const isName = repository && !/[*?$]/.test(repository);
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <Icon name={repository ? 'repository' : 'settings'} />
        <h3 class="wrap-anywhere">
          {isName ? <a href={links.objects(repository)}>{title}</a> : title}
        </h3>
      </div>
      <ul>
        {rights.map((right, index) => (
          <li class="row roomy" key={index}>
            <RightRow {...right} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RightRow({ isAllowed, may, what, isConditional, number, held }: Right) {
  const { policy, groups, isDirect } = held;
  return (
    <>
      <span class={`badge ${isAllowed ? 'green' : 'red'}`}>{isAllowed ? 'May' : 'Denied'}</span>
      <span class="grow wrap-anywhere">
        {may.join(', ')}
        {what && (
          <>
            {': '}
            <code>{what}</code>
          </>
        )}
        {isConditional && <span class="quiet"> under a condition</span>}
      </span>
      <span class="small quiet wrap-anywhere">
        by <a href={`${links.policy(policy.id)}?statement=${number}`}>{policy.id}</a>
        {groups.map(group => (
          <span key={group}>
            {' of '}
            <a href={links.group(group)}>group {group}</a>
          </span>
        ))}
        {isDirect && groups.length > 0 && ' and directly'}
      </span>
    </>
  );
}
