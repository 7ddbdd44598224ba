/** Says what a user may do, whether an action is allowed on a resource, and which statement decides. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, type Schemas, sentence } from '../../api/client';
import { useResource } from '../../api/resource';
import { user } from '../../api/session';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { handleSubmit } from '../../parts/form';
import { Notice, Problem, Skeleton } from '../../parts/state';
import styles from './access.module.css';
import { readUsers } from './lists';
import { NameField } from './names';
import { Rights } from './rights-list';

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
  const userId = query.user ?? user.value?.id ?? '';
  const { action = '', resource = '' } = query;
  const show = (question: Partial<Question>) => {
    const given = Object.entries(question).filter(([, value]) => value) as [string, string][];
    route(`${links.access()}?${new URLSearchParams(given)}`);
  };
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1>Access explainer</h1>
          <p>What may a user do? Which statement of which policy decides?</p>
        </div>
      </div>
      <ChooseUser key={userId} userId={userId} onChoose={id => show({ user: id })} />
      {userId && <Rights key={userId} userId={userId} />}
      <h2>Ask about one resource</h2>
      <Problem failure={actions.failure} retry={actions.reload} />
      {!actions.data && !actions.failure && <Skeleton />}
      {actions.data && (
        <Ask
          actions={actions.data.results}
          start={{ action: action || (resource ? '' : 'fs:ReadObject'), resource }}
          onAsk={question => show({ user: userId, ...question })}
        />
      )}
      {userId && resource && action && <Answer {...{ user: userId, action, resource }} />}
      {userId && resource && !action && <EveryAction {...{ userId, resource }} />}
    </div>
  );
}

function ChooseUser({ userId, onChoose }: { userId: string; onChoose: (id: string) => void }) {
  const [id, setId] = useState(userId);
  return (
    <form class="form page" onSubmit={handleSubmit(() => onChoose(id.trim()))}>
      <div class={`bar ${styles.named}`}>
        <NameField
          label="User"
          icon="user"
          value={id}
          onText={setId}
          suggest={prefix => readUsers(prefix, '')}
        />
        <Button type="submit">Show rights</Button>
      </div>
    </form>
  );
}

interface AskProps {
  actions: Schemas['ActionRow'][];
  start: Omit<Question, 'user'>;
  onAsk: (question: Omit<Question, 'user'>) => void;
}

const ANY_OBJECT = 'arn:lakefs:fs:::repository/{repository}/object/{path}';

function formOf(actions: Schemas['ActionRow'][], action: string): string {
  if (!action) return ANY_OBJECT;
  return actions.find(row => row.action === action)?.resources[0] ?? '*';
}

function Ask({ actions, start, onAsk }: AskProps) {
  const [action, setAction] = useState(start.action);
  const [resource, setResource] = useState(start.resource || formOf(actions, start.action));
  const row = actions.find(each => each.action === action);
  const left = /\{(repository|path|branch|tag|uri|namespace|table|name)\}/.exec(resource)?.[0];
  return (
    <form
      class="form page"
      onSubmit={handleSubmit(() => !left && onAsk({ action, resource: resource.trim() }))}
    >
      <SelectField
        label="Action"
        value={action}
        onText={chosen => {
          setAction(chosen);
          setResource(formOf(actions, chosen));
        }}
        options={[
          { value: '', text: 'Every action' },
          ...actions.map(each => ({ value: each.action, text: each.action })),
        ]}
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

const VERDICTS = {
  allowed: { text: 'Allowed', look: 'green' },
  denied: { text: 'Denied', look: 'red' },
  not_allowed: { text: 'Not allowed', look: '' },
};

/** Decides each action that can be done to the resource. */
function EveryAction({ userId, resource }: { userId: string; resource: string }) {
  const { data, failure, reload } = useResource(['every-action', userId, resource], signal =>
    answer(
      api.GET('/auth/users/{userId}/access/actions', {
        params: { path: { userId }, query: { resource } },
        signal,
      }),
    ),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton />;
  return (
    <section class="rows" aria-label="Answer">
      <ul>
        {data.results.map(({ action, verdict, reason, policy, statement_number }) => (
          <li class="row roomy" key={action}>
            <span class={`badge ${VERDICTS[verdict].look}`}>{VERDICTS[verdict].text}</span>
            <code>{action}</code>
            <span class="grow small quiet wrap-anywhere">
              {policy ? (
                <a href={`${links.policy(policy)}?statement=${statement_number}`}>
                  {sentence(reason)}
                </a>
              ) : (
                sentence(reason)
              )}
            </span>
          </li>
        ))}
      </ul>
      {!data.results.length && <p class="row">No action is about such a resource.</p>}
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
