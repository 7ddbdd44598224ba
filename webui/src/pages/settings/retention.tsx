/** Retention: for how long deleted objects stay readable, and what past collections deleted. */

import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Docs } from '../../parts/docs';
import { useRepository } from '../../parts/repository';
import { ifUnchanged } from '../../parts/seen';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';
import { Collections } from './collections';
import { EditPolicy } from './edit-policy';
import { type Policy as Loaded, loadPolicy, replacePolicy } from './policy';
import styles from './retention.module.css';
import { EXAMPLE, type Rules, rulesText } from './rules';
import { TimeLine } from './time-line';

export function Retention() {
  const { id: repository, read_only } = useRepository();
  const policy = useResource(['retention', repository], signal => loadPolicy(repository, signal));
  const [editing, setEditing] = useState<Rules>();
  const [isDeleting, setDeleting] = useState(false);
  const data = policy.data?.setting;
  const why = read_only ? 'The repository is read-only.' : undefined;
  return (
    <div class="stack loose">
      <div class="page-head">
        <div class="titles">
          <h1>Retention</h1>
          <p>
            How long old versions stay readable after an object is deleted or overwritten.
            <Docs page="garbage-collection.md" />
          </p>
        </div>
        {data !== undefined && (
          <Button
            kind="primary"
            icon="edit"
            disabled={read_only}
            title={why}
            onClick={() => setEditing(data ?? { default_retention_days: 14, branches: [] })}
          >
            Edit policy
          </Button>
        )}
        {data && (
          <Button icon="trash" disabled={read_only} title={why} onClick={() => setDeleting(true)}>
            Delete policy
          </Button>
        )}
      </div>
      <Problem failure={policy.failure} retry={policy.reload} />
      {data === undefined && !policy.failure && <Skeleton />}
      {data && <Policy rules={data} />}
      {data === null && <NoPolicy isReadOnly={read_only} onStart={() => setEditing(EXAMPLE)} />}
      {editing && policy.data && (
        <EditPolicy
          policy={policy.data}
          start={editing}
          onMoved={policy.reload}
          onSaved={policy.reload}
          onClose={() => setEditing(undefined)}
        />
      )}
      {isDeleting && policy.data && (
        <DeletePolicy
          {...{ repository, reload: policy.reload }}
          policy={policy.data}
          onClose={() => setDeleting(false)}
        />
      )}
      <Collections />
    </div>
  );
}

function Policy({ rules }: { rules: Rules }) {
  return (
    <section class="stack" aria-label="The policy in force">
      <p>
        Objects that are deleted stay readable for{' '}
        <b>{countText(rules.default_retention_days, 'day')}</b>
        {rules.branches.map(({ branch_id, retention_days }) => (
          <span key={branch_id}>
            ; on <code>{branch_id}</code> for <b>{countText(retention_days, 'day')}</b>
          </span>
        ))}
        .
      </p>
      <TimeLine rules={rules} />
      <ul class={styles.points}>
        <li>If several branches keep an object, the one that keeps it longest decides.</li>
        <li>What the head of a branch has is never deleted, however old it is.</li>
        <li>
          Commits stay: their objects can still be listed. Reading an object that was collected
          answers <code>410 Gone</code>.
        </li>
        <li>A tag keeps no objects. To keep those of a commit, make a branch of it.</li>
      </ul>
      <details>
        <summary>The policy as JSON</summary>
        <pre class="code-box">{rulesText(rules)}</pre>
      </details>
    </section>
  );
}

function NoPolicy({ isReadOnly, onStart }: { isReadOnly: boolean; onStart: () => void }) {
  return (
    <div class="card">
      <Empty
        icon="clock"
        title="Everything is kept forever"
        actions={
          <Button kind="primary" disabled={isReadOnly} onClick={onStart}>
            Start with an example
          </Button>
        }
      >
        Without a policy, no object that was ever committed is deleted from storage. The example
        keeps deleted objects for 14 days, and those of <code>main</code> for 21. You see it before
        it is saved.
      </Empty>
    </div>
  );
}

interface DeleteProps {
  repository: string;
  policy: Loaded;
  reload: () => void;
  onClose: () => void;
}

function DeletePolicy({ repository, policy, reload, onClose }: DeleteProps) {
  const act = async () => {
    await ifUnchanged('the policy', replacePolicy(repository, policy, null), reload);
    reload();
    tell('The policy was deleted. Committed objects are now kept forever.');
  };
  return (
    <Confirm title="Delete the retention policy?" action="Delete policy" {...{ act, onClose }}>
      <p>
        The rules of <b>{repository}</b> are deleted. From then on, no committed object is
        collected, and the storage grows.
      </p>
      <p>Objects that were collected before do not come back.</p>
    </Confirm>
  );
}
