/** One policy: its statements in words and as JSON. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, type Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { ifUnchanged, readSetting } from '../../parts/seen';
import { Problem, Skeleton } from '../../parts/state';
import { tell } from '../../parts/toast';
import styles from './access.module.css';
import { EditPolicy } from './edit-policy';
import { resourcesOf } from './rights';

type StatementRow = Schemas['StatementBody'];

export function PolicyPage({ id }: { id: string }) {
  const { query, route } = useLocation();
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const params = { path: { policyId: id } };
  const {
    data: read,
    failure,
    reload,
  } = useResource(['policy', id], signal =>
    readSetting(api.GET('/auth/policies/{policyId}', { params, signal })),
  );
  const data = read?.setting;
  const close = () => setDialog(undefined);
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1 class="wrap-anywhere">{id}</h1>
          <p>Policy</p>
        </div>
        {failure?.status !== 404 && (
          <>
            <Button icon="edit" disabled={!data} onClick={() => setDialog('edit')}>
              Edit policy
            </Button>
            <Button icon="trash" onClick={() => setDialog('delete')}>
              Delete policy
            </Button>
          </>
        )}
      </div>
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton />}
      {data && (
        <ol class="stack" aria-label="Statements">
          {data.statement.map((statement, index) => (
            <li key={index}>
              <Statement
                statement={statement}
                number={index + 1}
                isChosen={query.statement === String(index + 1)}
              />
            </li>
          ))}
        </ol>
      )}
      {data && (
        <details>
          <summary>The policy as JSON</summary>
          <pre class="code-box">{JSON.stringify({ statement: data.statement }, null, 2)}</pre>
        </details>
      )}
      {dialog === 'edit' && <EditPolicy {...{ read, reload }} onSaved={reload} onClose={close} />}
      {dialog === 'delete' && (
        <Confirm
          title={`Delete policy ${id}?`}
          action="Delete policy"
          onClose={close}
          act={async () => {
            const header = { 'If-Match': read?.version };
            const change = api.DELETE('/auth/policies/{policyId}', {
              params: { ...params, header },
            });
            await ifUnchanged('the policy', answer(change), reload);
            tell(`Policy ${id} was deleted.`);
            route(links.policies());
          }}
        >
          <p>
            Users and groups that have <b>{id}</b> lose what it allows. They may also gain what it
            denies.
          </p>
        </Confirm>
      )}
    </div>
  );
}

interface StatementProps {
  statement: StatementRow;
  number: number;
  isChosen: boolean;
}

/** A statement in words; the one that the explainer names stands out. */
function Statement({ statement, number, isChosen }: StatementProps) {
  const { effect, action, resource, condition } = statement;
  const isAllowed = effect === 'allow';
  return (
    <section
      class={`card ${isChosen ? styles.chosen : ''}`}
      aria-label={`Statement ${number}`}
      aria-current={isChosen ? 'true' : undefined}
    >
      <div class="card-body stack tight">
        <div class="bar">
          <b>Statement {number}</b>
          <span class={`badge ${isAllowed ? 'green' : 'red'}`}>
            {isAllowed ? 'Allows' : 'Denies'}
          </span>
          {isChosen && <span class="badge indigo">This one decided</span>}
        </div>
        <Codes codes={action} all={['*']} everything="every action" />
        <div>on</div>
        <Codes codes={resourcesOf(resource)} all={['*']} everything="every resource" />
        {Object.entries(condition ?? {}).map(([operator, tests]) =>
          Object.entries(tests).map(([field, values]) => (
            <div key={`${operator} ${field}`}>
              only if <code>{field}</code> {operator} <code>{values.join(', ')}</code>
            </div>
          )),
        )}
      </div>
    </section>
  );
}

function Codes({ codes, all, everything }: { codes: string[]; all: string[]; everything: string }) {
  if (codes.join() === all.join()) return <div class="strong">{everything}</div>;
  return (
    <ul>
      {codes.map(code => (
        <li class="wrap-anywhere" key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
  );
}
