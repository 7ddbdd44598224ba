/** A JSON value as a tree that opens step by step; only what is open is drawn. */

import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button';
import { countText, integerText } from '../../../parts/words';
import styles from './json-tree.module.css';

const STEP = 200;
const TEXT_MAX = 500;

interface NodeProps {
  /** The key or the index; the root has none. */
  name?: string;
  value: unknown;
  isOpen?: boolean;
}

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div class={`mono ${styles.tree}`}>
      <Node value={value} isOpen />
    </div>
  );
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function Node({ name, value, isOpen: isOpenAtFirst = false }: NodeProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  if (!isNested(value))
    return (
      <div class={styles.leaf}>
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="quiet">
          {Array.isArray(value) ? `[${countText(count, 'item')}]` : `{${countText(count, 'key')}}`}
        </span>
      </summary>
      {isOpen && <Children value={value} />}
    </details>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span class={styles.key}>{name}: </span>;
}

/** The first entries of a value; a button shows more. */
function Children({ value }: { value: object }) {
  const [shown, setShown] = useState(STEP);
  const keys = Object.keys(value);
  return (
    <div class={styles.children}>
      {keys.slice(0, shown).map(key => (
        <Node key={key} name={key} value={(value as Record<string, unknown>)[key]} />
      ))}
      {keys.length > shown && (
        <Button isSmall onClick={() => setShown(shown + STEP)}>
          Show more of {integerText(keys.length)}
        </Button>
      )}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  // An integer that a number would round; JSON.stringify knows none.
  const isLong = typeof value === 'bigint';
  const text = isLong ? String(value) : JSON.stringify(value);
  const kind = value === null ? 'null' : isLong ? 'number' : typeof value;
  if (text.length <= TEXT_MAX || isWhole) return <span class={styles[kind]}>{text}</span>;
  return (
    <>
      <span class={styles[kind]}>{text.slice(0, TEXT_MAX)}…</span>{' '}
      <Button isSmall onClick={() => setWhole(true)}>
        Show all
      </Button>
    </>
  );
}
