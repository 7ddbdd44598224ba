/** Says whether a user may do something, and which statement decides. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, type Schemas, sentence } from '../../api/client';
import { useResource } from '../../api/resource';
import { user } from '../../api/session';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { Notice, Problem, Skeleton } from '../../parts/state';

type Verdict = Schemas['AccessRow'];

interface Question {
  user: string;
  action: string;
  resource: string;
}

/** The question is in the address, so an answer can be sent to somebody. */
export function Explainer() {
  const { query, route } = useLocation();
  const actions = useResource(['actions'], signal => answer(api.GET('/auth/actions', { signal })));
  const asked =
    query.user && query.action && query.resource
      ? { user: query.user, action: query.action, resource: query.resource }
      : undefined;
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1>Access explainer</h1>
          <p>May a user do something? Which statement of which policy decides?</p>
        </div>
      </div>
      <Problem failure={actions.failure} retry={actions.reload} />
      {!actions.data && !actions.failure && <Skeleton />}
      {actions.data && (
        <Ask
          actions={actions.data.results}
          start={{
            user: query.user ?? user.value?.id ?? '',
            action: query.action ?? 'fs:ReadObject',
            resource: query.resource ?? '',
          }}
          onAsk={question => route(`${links.access()}?${new URLSearchParams({ ...question })}`)}
        />
      )}
      {asked && <Answer {...asked} />}
    </div>
  );
}

interface AskProps {
  actions: Schemas['ActionRow'][];
  start: Question;
  onAsk: (question: Question) => void;
}

function formOf(actions: Schemas['ActionRow'][], action: string): string {
  return actions.find(row => row.action === action)?.resources[0] ?? '*';
}

function Ask({ actions, start, onAsk }: AskProps) {
  const [who, setWho] = useState(start.user);
  const [action, setAction] = useState(start.action);
  const [resource, setResource] = useState(start.resource || formOf(actions, start.action));
  const row = actions.find(each => each.action === action);
  const left = /\{(repository|path|branch|tag|uri|name)\}/.exec(resource)?.[0];
  return (
    <form
      class="form page"
      onSubmit={event => {
        event.preventDefault();
        if (!left) onAsk({ user: who.trim(), action, resource: resource.trim() });
      }}
    >
      <TextField label="User" value={who} onText={setWho} required />
      <SelectField
        label="Action"
        value={action}
        onText={chosen => {
          setAction(chosen);
          setResource(formOf(actions, chosen));
        }}
        options={actions.map(each => ({ value: each.action, text: each.action }))}
        hint={row && `Needed by ${row.operations.join(', ')}.`}
      />
      <TextField
        label="Resource"
        value={resource}
        onText={setResource}
        required
        hint={
          left
            ? `Replace ${left} by a name. A star at the end means everything below.`
            : 'A star at the end means everything below.'
        }
      />
      {row && row.resources.length > 1 && (
        <div class="bar">
          <span class="small quiet">Other forms:</span>
          {row.resources.map(form => (
            <Button isSmall key={form} onClick={() => setResource(form)}>
              {form}
            </Button>
          ))}
        </div>
      )}
      <div>
        <Button kind="primary" type="submit" disabled={Boolean(left)}>
          Explain
        </Button>
      </div>
    </form>
  );
}

function Answer({ user: userId, action, resource }: Question) {
  const { data, failure, reload } = useResource(['access', userId, action, resource], signal =>
    answer(
      api.GET('/auth/users/{userId}/access', {
        params: { path: { userId }, query: { action, resource } },
        signal,
      }),
    ),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={2} />;
  return (
    <section aria-label="Answer" aria-live="polite">
      <Notice kind={data.allowed ? 'success' : 'warning'}>
        <div class="stack tight">
          <b>
            {data.allowed ? 'Yes' : 'No'}: {data.user} may {data.allowed ? '' : 'not '}
            {data.action} on {data.resource}.
          </b>
          <span>{sentence(data.reason)}</span>
          <Decider verdict={data} />
        </div>
      </Notice>
    </section>
  );
}

/** Links to the statement that decided, and to the groups through which it counts. */
function Decider({ verdict }: { verdict: Verdict }) {
  const { policy, statement_number, groups } = verdict;
  if (!policy) return null;
  return (
    <span>
      <a href={`${links.policy(policy)}?statement=${statement_number}`}>
        Show statement {statement_number} of {policy}
      </a>
      {groups.map(group => (
        <span key={group}>
          {' · '}
          <a href={links.group(group)}>Group {group}</a>
        </span>
      ))}
    </span>
  );
}
