/** Two versions of a table compared: its columns by name, its rows by a key. */

import { useMemo, useState } from 'preact/hooks';
import { sentence } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../button';
import type { ColumnFacts } from '../column-facts';
import type { Column } from '../column-head';
import { LIMITS } from '../limits';
import { useQuery } from '../query';
import { Notice, Problem, Skeleton } from '../state';
import { type Arranging, ROWS, useArranging } from '../table-query';
import { Cell, TableView } from '../table-view';
import { timedWorker } from '../timed-worker';
import { countText, integerText } from '../words';
import type { ComparedRow, TableAnswer, TableFiles } from './comparison';
import { Sign } from './counts';
import type { ComparedColumn, Match, RowChangeType } from './rows';
import styles from './table.module.css';
import type { Asked } from './table-worker';
import address from './table-worker?worker&url';
import { TextDiff } from './text';
import { utf8Text } from './utf8';

type Answer = TableAnswer | ColumnFacts[] | { problem: string };

const ask = timedWorker<Asked, Answer>(address, LIMITS.compared_time_ms);

export function TableDiff(files: TableFiles) {
  const [isText, setText] = useState(false);
  const [{ match, rows }] = useQuery();
  const arranging = useArranging();
  const { arrangement, start } = arranging;
  const type = TYPES.find(each => each === rows);
  const question = { match: matchOf(match), type, arrangement, start, count: ROWS };
  const { data, failure, reload } = useResource(['table diff', files.id, question], () =>
    ask({ ...files, rows: question }),
  );
  const [shown, setShown] = useState<TableAnswer>();
  const answer = data && 'counts' in data ? data : undefined;
  // What shows stays until the next rows are there.
  if (answer && answer !== shown) setShown(answer);
  const isLoading = data === undefined && !failure;
  const table = answer ?? (isLoading ? shown : undefined);
  const [before, after] = useMemo(() => [files.before, files.after].map(utf8Text), [files.id]);
  const canBeText = before !== undefined && after !== undefined;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (isLoading && !table) return <Skeleton />;
  return (
    <div class="stack">
      {canBeText && table && (
        <Button isSmall class={styles.as} onClick={() => setText(!isText)}>
          {isText ? 'Compare by row' : 'Compare by line'}
        </Button>
      )}
      {canBeText && (isText || !table) ? (
        <TextDiff id={files.id} before={before} after={after} />
      ) : table ? (
        <Rows files={files} table={table} rows={answer?.rows} arranging={arranging} />
      ) : (
        <Notice>
          {data && 'problem' in data && `${sentence(data.problem)} `}
          The content is not a table, or one that is too large to be compared here. Download both
          versions to compare them.
        </Notice>
      )}
    </div>
  );
}

interface RowsProps {
  files: TableFiles;
  table: TableAnswer;
  /** Nothing while they are being compared. */
  rows: readonly ComparedRow[] | undefined;
  arranging: Arranging;
}

function Rows({ files, table, rows, arranging }: RowsProps) {
  const { columns, keys, match, counts } = table;
  const key = match.by === 'column' ? keys.find(({ name }) => name === match.name) : undefined;
  const factsOf = async (column: number) => {
    const facts = await ask({ ...files, column });
    return Array.isArray(facts) ? facts : [];
  };
  return (
    <>
      <ColumnChanges columns={columns} />
      <TableView
        label="Changed rows"
        columns={columns.map((column, at) => headOf(column, () => factsOf(at)))}
        arranging={arranging}
        rows={rows}
        count={table.count}
        empty="No row changed"
        mark={({ type }) => <Sign type={type} />}
        classOf={({ type }) => styles[type]}
        cell={(row, at) => <ComparedCell row={row} at={at} column={columns[at]} />}
      >
        <Matching match={match} keys={keys} />
        <RowTypes counts={counts} />
      </TableView>
      {key && !key.isUnique && (
        <Notice>
          Several rows have the same {key.name}. Of these, equal rows are matched first, then the
          others in their order.
        </Notice>
      )}
    </>
  );
}

const LOOKS = { added: 'green', removed: 'red', retyped: 'amber' };
const COLUMN_SIGNS = { added: '+', removed: '−', retyped: '~' };

/** Columns in another order are no change. */
function ColumnChanges({ columns }: { columns: readonly ComparedColumn[] }) {
  const changed = columns.filter(({ change }) => change);
  if (!changed.length) return null;
  return (
    <ul class="bar" aria-label="Changed columns">
      {changed.map(({ name, change = 'retyped', type, typeBefore }) => (
        <li key={name} class={`badge ${LOOKS[change]}`}>
          <span aria-hidden="true">{COLUMN_SIGNS[change]}</span>
          {change === 'retyped'
            ? `Column ${name}: ${typeBefore} became ${type}`
            : `Column ${name} ${change}`}
        </li>
      ))}
    </ul>
  );
}

function headOf(column: TableAnswer['columns'][number], facts: Column['facts']): Column {
  const { name, isNumber, type, change, typeBefore, cells } = column;
  const types = change === 'retyped' ? `${typeBefore} → ${type}` : type;
  const changed = cells > 0 && `${integerText(cells)} changed`;
  const note = [types, changed].filter(Boolean).join(', ');
  return { name, isNumber, note, look: change && styles[change], facts };
}

interface CellProps {
  row: ComparedRow;
  at: number;
  column: ComparedColumn | undefined;
}

function ComparedCell({ row: { type, before, after, changed }, at, column }: CellProps) {
  if (changed.includes(at))
    return (
      <span class={styles.cell}>
        <del>
          <Cell value={before[at]} />
        </del>{' '}
        <ins>
          <Cell value={after[at]} />
        </ins>
      </span>
    );
  const isOld = type === 'removed' || column?.right === -1;
  // An added row has no value in a removed column, not even a null.
  if (isOld ? type === 'added' || column?.left === -1 : column?.right === -1) return null;
  return <Cell value={(isOld ? before : after)[at]} />;
}

const POSITION = 'position';
const ROW = 'row';
const COLUMN = 'column ';

/** Return what the address names; the name of a column may be any. */
function matchOf(text = ''): Match | undefined {
  if (text.startsWith(COLUMN)) return { by: 'column', name: text.slice(COLUMN.length) };
  return text === POSITION || text === ROW ? { by: text } : undefined;
}

function Matching({ match, keys }: Pick<TableAnswer, 'match' | 'keys'>) {
  const [, setQuery] = useQuery();
  return (
    <label class={`bar ${styles.matching}`}>
      Match rows by
      <select
        class="select"
        value={match.by === 'column' ? COLUMN + match.name : match.by}
        onChange={event => setQuery({ match: event.currentTarget.value }, true)}
      >
        {keys.map(({ name, isUnique }) => (
          <option key={name} value={COLUMN + name}>
            {name || '(no name)'}
            {!isUnique && ' (repeats)'}
          </option>
        ))}
        <option value={ROW}>the whole row</option>
        <option value={POSITION}>position</option>
      </select>
    </label>
  );
}

const TYPES: readonly RowChangeType[] = ['changed', 'added', 'removed'];

/** Counts the changed rows of each type, and shows those of one. */
function RowTypes({ counts }: Pick<TableAnswer, 'counts'>) {
  const [{ rows }, setQuery] = useQuery();
  return (
    <fieldset class="bar" aria-label="Show changed rows">
      {TYPES.map(type => (
        <Button
          key={type}
          isSmall
          aria-pressed={rows === type}
          disabled={!counts[type]}
          onClick={() => setQuery({ rows: rows === type ? undefined : type }, true)}
        >
          <Sign type={type} />
          {countText(counts[type], 'row')} {type}
        </Button>
      ))}
    </fieldset>
  );
}
