/** Who changed access or settings, or logged in: when, from where, with what outcome. */

import { useEffect, useId, useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAllPages, usePages } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { PagedList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { Empty, Notice } from '../../parts/state';
import { Time } from '../../parts/time';
import { momentText } from '../../parts/words';
import styles from './access.module.css';
import {
  type AuditRecord,
  auditQuery,
  OUTCOMES,
  operationText,
  outcomeOf,
  thingsOf,
} from './audit-filters';
import { PAGE } from './names';

export function Audit() {
  const [query, setQuery] = useQuery();
  const asked = auditQuery(query);
  const found = usePages(['audit', asked], (after, signal) =>
    answer(
      api.GET('/auth/audit', { params: { query: { ...asked, after, amount: PAGE } }, signal }),
    ),
  );
  // A page may be empty while others follow: the server looks through all records for few seconds.
  const isLooking = !found.items.length && found.hasMore && !found.failure;
  useAllPages(found, isLooking);
  const isNarrowed = Object.values(asked).some(Boolean);
  return (
    <div class="stack">
      <div class="page-head">
        <div class="titles">
          <h1>Audit</h1>
          <p>Log-ins, and changes of access and settings. Commits name who changed the data.</p>
        </div>
      </div>
      <AuditFilters operations={[...new Set(found.items.map(({ operation }) => operation))]} />
      {found.failure?.status === 401 && (
        <Notice>To read the audit, you need auth:ListUsers and auth:ListPolicies on *.</Notice>
      )}
      <PagedList
        pages={{ ...found, isLoading: found.isLoading || isLooking }}
        label="Audit records"
        keyOf={({ id }) => id}
        row={record => <AuditRecordRow {...record} />}
        empty={
          <Empty
            icon="search"
            title={isNarrowed ? 'No record matches' : 'No record yet'}
            actions={
              isNarrowed && (
                <Button
                  onClick={() =>
                    setQuery(Object.fromEntries(Object.keys(asked).map(name => [name, undefined])))
                  }
                >
                  Show all records
                </Button>
              )
            }
          >
            Records stay for 396 days.
          </Empty>
        }
      />
    </div>
  );
}

function AuditFilters({ operations }: { operations: string[] }) {
  const [query, setQuery] = useQuery();
  const listId = useId();
  return (
    <form class={styles.filters} aria-label="Filters" onSubmit={event => event.preventDefault()}>
      <AuditField name="user" label="User" />
      <AuditField name="operation" label="Operation" list={listId} placeholder="login" />
      <datalist id={listId}>
        {operations.map(each => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <SelectField
        label="Outcome"
        value={query.outcome ?? ''}
        onText={outcome => setQuery({ outcome }, true)}
        options={[
          { value: '', text: 'All' },
          ...Object.entries(OUTCOMES).map(([value, text]) => ({ value, text })),
        ]}
      />
      <AuditField name="since" label="Since" type="date" />
      <AuditField name="until" label="Until" type="date" />
    </form>
  );
}

interface AuditFieldProps {
  /** The name in the address. */
  name: string;
  label: string;
  type?: 'date';
  list?: string;
  placeholder?: string;
}

/** A field that counts at Enter, or when it is left: each of its values is a request. */
function AuditField({ name, ...rest }: AuditFieldProps) {
  const [query, setQuery] = useQuery();
  const value = query[name] ?? '';
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <TextField
      {...rest}
      value={text}
      onText={setText}
      onChange={event => setQuery({ [name]: event.currentTarget.value.trim() }, true)}
    />
  );
}

function AuditRecordRow(record: AuditRecord) {
  const { user, access_key_id, operation, resources, path, source_ip, time, status_code } = record;
  const outcome = outcomeOf(record);
  const things = thingsOf(record);
  return (
    <details class={`grow ${styles.record}`}>
      <summary>
        <span class={styles.line}>
          <b>{operationText(operation)}</b>
          {outcome !== 'Succeeded' && (
            <span class={`badge ${status_code ? 'red' : 'amber'}`}>{outcome}</span>
          )}
          {things && <bdi class="wrap-anywhere">{things}</bdi>}
          <span class="small quiet wrap-anywhere">
            {/* Anybody may try to log in with a key that turns the direction of what follows. */}
            <bdi>{user || access_key_id || 'unknown user'}</bdi> from {source_ip},{' '}
            <Time at={Date.parse(time) / 1000} />
          </span>
        </span>
      </summary>
      <dl class="facts">
        <dt>Time</dt>
        <dd>
          {momentText(Date.parse(time) / 1000)} <span class="quiet">({time})</span>
        </dd>
        <dt>User</dt>
        <dd>{user ? <a href={links.user(user)}>{user}</a> : 'Not known: the log-in failed'}</dd>
        {access_key_id && (
          <>
            <dt>Access key</dt>
            <dd>
              <code>{access_key_id}</code>, with which the log-in was tried
            </dd>
          </>
        )}
        <dt>Address</dt>
        <dd>
          <code>{source_ip}</code>, as it reached the API
        </dd>
        <dt>Operation</dt>
        <dd>
          <code>{operation}</code>
        </dd>
        <dt>Path</dt>
        <dd>
          <code>{path}</code>
        </dd>
        {resources.length > 0 && (
          <>
            <dt>Resources</dt>
            <dd>
              {resources.map(each => (
                <div key={each}>
                  <code>{each}</code>
                </div>
              ))}
            </dd>
          </>
        )}
        <dt>Outcome</dt>
        <dd>
          {status_code
            ? `${outcome}: status ${status_code}`
            : 'Unknown: the process ended before it was recorded. Look at the resource.'}
        </dd>
        <dt>Request</dt>
        <dd>
          <code>{record.request_id}</code>, which finds the request in the log
        </dd>
      </dl>
    </details>
  );
}
