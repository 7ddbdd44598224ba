/** What narrows the log, kept in the address: a path, a day, first parents. */

import { Button } from '../../parts/button';
import { CheckField } from '../../parts/field';
import { useQuery } from '../../parts/query';
import { PathBox } from '../../parts/search-box';
import { Empty } from '../../parts/state';
import styles from './filters.module.css';

export interface Filters {
  isFirstParent: boolean;
  /** Only commits that changed something at paths that begin with it. */
  prefix: string;
  /** Only commits since this day, `2026-01-31`; empty for all. */
  since: string;
}

export function filtersOf({ first_parent, prefix = '', since = '' }: Record<string, string>) {
  const isDay = Number.isFinite(Date.parse(`${since}T00:00:00`));
  return { isFirstParent: first_parent === 'true', prefix, since: isDay ? since : '' };
}

export function LogFilters({ isFirstParent, prefix, since }: Filters) {
  const [, setQuery] = useQuery();
  return (
    <>
      <PathBox
        label="Show only commits that changed paths that begin with"
        value={prefix}
        onPath={path => setQuery({ prefix: path })}
      />
      <label class={`bar ${styles.since}`}>
        Since
        <input
          class="input"
          type="date"
          value={since}
          onChange={event => setQuery({ since: event.currentTarget.value }, true)}
        />
      </label>
      <CheckField
        label="First parents only"
        isChecked={isFirstParent}
        onCheck={isOn => setQuery({ first_parent: isOn ? 'true' : undefined }, true)}
      />
    </>
  );
}

export function NoMatch() {
  const [, setQuery] = useQuery();
  return (
    <Empty
      icon="search"
      title="No commit matches"
      actions={
        <Button onClick={() => setQuery({ prefix: undefined, since: undefined })}>
          Show all commits
        </Button>
      }
    />
  );
}
