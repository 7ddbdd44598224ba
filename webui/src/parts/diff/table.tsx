/** Two tables compared by row: rows with the same key are one row. */

import { useMemo, useState } from 'preact/hooks';
import { part } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../button';
import { SelectField } from '../field';
import { LIMITS } from '../limits';
import { separated } from '../separated';
import { Notice, Problem, Skeleton } from '../state';
import { textOf } from './content';
import { CountBadges, Sign } from './counts';
import {
  allColumns,
  distinct,
  type RowChange,
  rowChanges,
  type Table,
  uniqueColumns,
} from './rows';
import { TextDiff } from './text';

const SHOWN = 500;

function short(text = ''): string {
  const most = LIMITS.compared_cell_characters;
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Return whether a table of this size can be drawn, and compared cell by cell. */
function isSmall(columns: number, rows: number): boolean {
  return columns <= LIMITS.columns && columns * rows <= LIMITS.compared_cells;
}

/** Return the table in the bytes; nothing if they are no such table, or one that is too large. */
async function tableOf(path: string, bytes: ArrayBuffer): Promise<Table | undefined> {
  if (!bytes.byteLength) return { columns: [], rows: [] };
  if (/\.parquet$/i.test(path))
    return (await part(import('./parquet'))).parquetTable(bytes, isSmall);
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  const { columns, rows } = separated(path, text);
  return isSmall(columns.length, rows.length) ? { columns: distinct(columns), rows } : undefined;
}

interface TableProps {
  path: string;
  before: ArrayBuffer;
  after: ArrayBuffer;
}

export function TableDiff({ path, before, after }: TableProps) {
  const [isText, setText] = useState(false);
  const { data, failure } = useResource(['tables', path, before.byteLength, after.byteLength], () =>
    Promise.all([tableOf(path, before), tableOf(path, after)]),
  );
  const texts = [textOf(before), textOf(after)] as const;
  const canBeText = texts[0] !== undefined && texts[1] !== undefined;
  if (!data && !failure) return <Skeleton />;
  const [left, right] = data ?? [];
  const isReadable = left && right && !failure;
  return (
    <div class="stack">
      <Problem failure={failure} />
      {canBeText && isReadable && (
        <Button isSmall class="diff-as" onClick={() => setText(!isText)}>
          {isText ? 'Compare by row' : 'Compare by line'}
        </Button>
      )}
      {canBeText && (isText || !isReadable) ? (
        <TextDiff before={texts[0] ?? ''} after={texts[1] ?? ''} />
      ) : isReadable ? (
        <Rows left={left} right={right} />
      ) : (
        <Notice>
          The content is not a table, or one that is too large to be compared here. Download both
          versions to compare them.
        </Notice>
      )}
    </div>
  );
}

function Rows({ left, right }: { left: Table; right: Table }) {
  const columns = allColumns(left, right);
  const unique = useMemo(() => uniqueColumns(left, right), [left, right]);
  const [key, setKey] = useState(unique[0]);
  const [shown, setShown] = useState(SHOWN);
  const changes = useMemo(() => rowChanges(left, right, key), [left, right, key]);
  const counts = { added: 0, changed: 0, removed: 0, conflict: 0 };
  for (const { type } of changes) counts[type] += 1;
  const isReordered = left.columns.join('\0') !== right.columns.join('\0');
  return (
    <>
      <div class="bar">
        {unique.length > 0 && (
          <SelectField
            label="Rows are the same if they agree in"
            value={key ?? ''}
            onText={text => setKey(text || undefined)}
            options={[
              ...unique.map(value => ({ value, text: value })),
              { value: '', text: 'all columns' },
            ]}
          />
        )}
        <CountBadges counts={counts} />
      </div>
      {isReordered && left.columns.length > 0 && right.columns.length > 0 && (
        <Notice>
          The columns changed: {left.columns.join(', ')} became {right.columns.join(', ')}.
        </Notice>
      )}
      {!changes.length && <Notice>The rows are the same, apart from their order.</Notice>}
      {changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls takes the keyboard's focus
        <section class="table-box" tabIndex={0} aria-label="Changed rows">
          <table class="table small">
            <thead>
              <tr>
                <th scope="col">Change</th>
                {columns.map(column => (
                  <th scope="col" key={column}>
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {changes.slice(0, shown).map((change, index) => (
                <ChangedRow key={index} change={change} columns={columns} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {changes.length > shown && (
        <Button onClick={() => setShown(shown + SHOWN)}>Show more rows</Button>
      )}
    </>
  );
}

function ChangedRow({ change, columns }: { change: RowChange; columns: readonly string[] }) {
  const { type, before, after } = change;
  return (
    <tr class={`row-${type}`}>
      <td>
        <Sign type={type} />
      </td>
      {columns.map((column, at) => {
        const isChanged = type === 'changed' && before?.[at] !== after?.[at];
        return (
          <td key={column} class={isChanged ? 'cell-changed' : undefined}>
            {isChanged && (
              <>
                <del>{short(before?.[at] ?? '(none)')}</del>{' '}
              </>
            )}
            {isChanged ? (
              <ins>{short(after?.[at] ?? '(none)')}</ins>
            ) : (
              short((after ?? before)?.[at])
            )}
          </td>
        );
      })}
    </tr>
  );
}
