/** Metadata of a commit or an object as rows of a key and a value. */

import { Button } from './button';
import styles from './metadata-field.module.css';

export type Metadata = readonly { key: string; value: string }[];

/** Return the metadata as the server takes them; rows without a key are left out. */
export function metadataOf(rows: Metadata): Record<string, string> {
  return Object.fromEntries(
    rows.filter(({ key }) => key.trim()).map(({ key, value }) => [key.trim(), value]),
  );
}

/** Return why the row cannot be saved as it is; empty if it can. */
function problemOfRow(rows: Metadata, { key, value }: Metadata[number]): string {
  const name = key.trim();
  if (!name) return value ? 'Give this value a key, or remove the row.' : '';
  const count = rows.filter(row => row.key.trim() === name).length;
  return count > 1 ? `The key ${name} is there ${count} times: keep one.` : '';
}

interface MetadataProps {
  rows: Metadata;
  onRows: (rows: Metadata) => void;
}

export function MetadataField({ rows, onRows }: MetadataProps) {
  const put = (at: number, change: Partial<Metadata[number]>) =>
    onRows(rows.map((row, index) => (index === at ? { ...row, ...change } : row)));
  return (
    <fieldset class="field">
      <legend class="strong">Metadata</legend>
      {rows.map((row, at) => (
        <div class={`bar ${styles.row}`} key={at}>
          <input
            class="input"
            aria-label={`Key ${at + 1}`}
            ref={input => input?.setCustomValidity(problemOfRow(rows, row))}
            placeholder="Key"
            value={row.key}
            onInput={event => put(at, { key: event.currentTarget.value })}
          />
          <input
            class="input"
            aria-label={`Value ${at + 1}`}
            placeholder="Value"
            value={row.value}
            onInput={event => put(at, { value: event.currentTarget.value })}
          />
          <Button
            kind="ghost"
            icon="close"
            label={`Remove row ${at + 1}`}
            onClick={() => onRows(rows.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <div>
        <Button isSmall icon="plus" onClick={() => onRows([...rows, { key: '', value: '' }])}>
          Add metadata
        </Button>
      </div>
    </fieldset>
  );
}
