/** One Iceberg table: its current snapshot, columns, snapshots and properties. */

import { useLocation } from 'preact-iso';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Badge } from '../../parts/badge';
import { CopyButton, LinkButton } from '../../parts/button';
import { tablePath } from '../../parts/iceberg-names';
import { VirtualRows } from '../../parts/list';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { changedText, loadTable, type Snapshot, type Table } from '../../parts/table-metadata';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { countText, integerText, shortId, sizeText, visible } from '../../parts/words';

export default function TablePage() {
  const { id: repository } = useRepository();
  const ref = useCurrentRef();
  const { query, route } = useLocation();
  const name = query.name ?? '';
  const path = tablePath(name);
  useTitle(name, repository);
  const { data, failure, reload } = useResource(['table', repository, ref, name], async signal =>
    // While another page is on its way, its address is here already.
    name ? loadTable({ repository, ref, path }, signal) : undefined,
  );
  const all = links.tables(repository, ref);
  const history = (
    <LinkButton icon="history" href={links.history(repository, ref, path)}>
      History
    </LinkButton>
  );
  return (
    <div class="stack">
      <div class="bar">
        <RefPicker
          {...{ repository }}
          value={ref}
          label="Table at"
          onChoose={chosen => route(links.table(repository, chosen, name))}
        />
        <span class="push bar">
          {data && (
            <>
              {history}
              <LinkButton icon="file" href={links.object(repository, ref, path)}>
                Metadata file
              </LinkButton>
            </>
          )}
        </span>
      </div>
      <nav class="bar" aria-label="Path">
        <ol class="crumbs">
          <li>
            <a class="strong" href={all}>
              Tables
            </a>
          </li>
          <li>
            <h1 class="wrap-anywhere">{visible(name)}</h1>
          </li>
        </ol>
        <CopyButton text={name} label="Copy the name" />
      </nav>
      {failure?.status === 404 ? (
        <Empty
          icon="layers"
          title={`There is no table ${visible(name)} at ${visible(shortId(ref))}`}
          actions={
            <>
              <LinkButton href={all}>All tables</LinkButton>
              {history}
            </>
          }
        >
          Another branch or an earlier commit may have it.
        </Empty>
      ) : (
        <Problem failure={failure} retry={reload} />
      )}
      {!data && !failure && <Skeleton />}
      {data && (
        <>
          <CurrentSnapshot table={data.table} />
          <Columns table={data.table} />
          <Snapshots table={data.table} />
          <Facts table={data.table} file={data.stats.physical_address} />
          <Properties table={data.table} />
        </>
      )}
    </div>
  );
}

function numberText(value: string | undefined): string {
  return /^\d+$/.test(value ?? '') ? integerText(Number(value)) : (value ?? 'Unknown');
}

function CurrentSnapshot({ table: { current } }: { table: Table }) {
  const size = current?.summary['total-files-size'];
  return (
    <section class="card" aria-label="Current snapshot">
      <div class="card-head">
        <h2>Current snapshot</h2>
      </div>
      {current ? (
        <dl class="facts card-body">
          <dt>ID</dt>
          <dd class="mono">{current.id}</dd>
          <dt>Committed</dt>
          <dd>
            <Time at={current.at_s} /> <span class="quiet">by {operationOf(current)}</span>
          </dd>
          <dt>Records</dt>
          <dd>{numberText(current.summary['total-records'])}</dd>
          <dt>Data files</dt>
          <dd>
            {numberText(current.summary['total-data-files'])}
            {/^\d+$/.test(size ?? '') && <span class="quiet"> ({sizeText(Number(size))})</span>}
          </dd>
        </dl>
      ) : (
        <p class="card-body quiet">The table has no rows yet.</p>
      )}
    </section>
  );
}

function operationOf({ summary }: Snapshot): string {
  return visible(summary.operation ?? 'unknown');
}

function Columns({ table: { columns, schemaId } }: { table: Table }) {
  return (
    <section class="stack tight" aria-label="Schema">
      <h2>
        Schema{' '}
        <span class="small quiet">
          {countText(columns.length, 'column')}, ID {schemaId}
        </span>
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus */}
      <section class="table-box" tabIndex={0} aria-label="Columns">
        <table class="table">
          <thead>
            <tr>
              <th>Column</th>
              <th>Type</th>
              <th>ID</th>
            </tr>
          </thead>
          <tbody>
            {columns.map(({ id, name, type, isRequired, doc }) => (
              <tr key={id}>
                <td>
                  <span class="strong wrap-anywhere">{visible(name)}</span>
                  {doc && <div class="small quiet">{visible(doc)}</div>}
                </td>
                <td>
                  <span class="mono">{visible(type)}</span>
                  {isRequired && <span class="small quiet"> required</span>}
                </td>
                <td class="quiet">{id}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Snapshots({ table: { snapshots } }: { table: Table }) {
  if (!snapshots.length) return null;
  return (
    <section class="stack tight" aria-label="Snapshots">
      <h2>
        Snapshots <span class="small quiet">{integerText(snapshots.length)}</span>
      </h2>
      <div class="rows">
        <VirtualRows
          items={snapshots}
          label="Snapshots"
          keyOf={({ id }) => id}
          row={each => (
            <>
              <span class="strong">{operationOf(each)}</span>
              <span class="grow cut">
                {changedText(each, 'records')} <span class="quiet">records</span>
              </span>
              {each.refs.map(ref => (
                <Badge key={ref}>
                  <span class="cut">{visible(ref)}</span>
                </Badge>
              ))}
              <span class="small quiet mono wide-only">{each.id}</span>
              <span class="small quiet number">
                <Time at={each.at_s} />
              </span>
            </>
          )}
        />
      </div>
    </section>
  );
}

interface FactsProps {
  table: Table;
  /** The URI of the metadata file. */
  file: string;
}

function Facts({ table, file }: FactsProps) {
  return (
    <section class="card" aria-label="Facts">
      <div class="card-head">
        <h2>Facts</h2>
      </div>
      <dl class="facts card-body">
        <dt>Partitions</dt>
        <dd>{visible(table.partitions.join(', ')) || 'None'}</dd>
        <dt>Sort order</dt>
        <dd>{visible(table.order.join(', ')) || 'None'}</dd>
        <dt>Format version</dt>
        <dd>{table.formatVersion}</dd>
        <dt>UUID</dt>
        <dd class="mono">{table.uuid}</dd>
        <dt>Location</dt>
        <dd>
          <Address text={table.location} label="Copy the location" />
        </dd>
        <dt>Metadata file</dt>
        <dd>
          <Address text={file} label="Copy the address of the metadata file" />
        </dd>
      </dl>
    </section>
  );
}

function Address({ text, label }: { text: string; label: string }) {
  return (
    <>
      <span class="mono">{visible(text)}</span> <CopyButton {...{ text, label }} />
    </>
  );
}

function Properties({ table: { properties } }: { table: Table }) {
  if (!properties.length) return null;
  return (
    <section class="card" aria-label="Properties">
      <div class="card-head">
        <h2>Properties</h2>
      </div>
      <dl class="facts card-body">
        {properties.map(([key, value]) => (
          <>
            <dt key={key} class="wrap-anywhere">
              {visible(key)}
            </dt>
            <dd>{visible(value)}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
