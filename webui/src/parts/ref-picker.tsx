/** Chooses a branch, a tag, a commit or any ref expression. */

import { useRef, useState } from 'preact/hooks';
import { apiRead, type Read } from '../api/cache';
import type { Schemas } from '../api/client';
import { useResource } from '../api/resource';
import { Button } from './button';
import { type Option, Options, useCombobox } from './combobox';
import panel from './combobox.module.css';
import { Icon, type IconName } from './icon';
import { useOutside } from './menu';
import { Popover } from './popover';
import styles from './ref-picker.module.css';
import { useSettled } from './settled';
import { Problem, Skeleton } from './state';
import { agoText, shortId, titleOf } from './words';

type RefKind = 'branch' | 'tag' | 'commit';

type RefRow = Schemas['Ref'] | Schemas['CommitRow'];

interface PickerProps {
  repository: string;
  /** The ref that is chosen now. */
  value: string;
  onChoose: (ref: string) => void;
  /** What is chosen with it, read aloud: "Compare to". */
  label: string;
  kinds?: readonly RefKind[];
}

const ALL: readonly RefKind[] = ['branch', 'tag', 'commit'];
const NAMES: Record<RefKind, string> = { branch: 'Branches', tag: 'Tags', commit: 'Commits' };
const ICONS: Record<RefKind, IconName> = { branch: 'branch', tag: 'tag', commit: 'commit' };
const SHOWN = 50;

/** Return the read of the refs of one kind that begin with the prefix; commits are all those of the ref. */
function readRefs(
  repository: string,
  kind: RefKind,
  prefix: string,
  ref: string,
): Read<{ results: RefRow[] }> {
  const [path, query] = [{ repository }, { prefix, amount: SHOWN }];
  if (kind === 'branch') return apiRead('/repositories/{repository}/branches', { path, query });
  if (kind === 'tag') return apiRead('/repositories/{repository}/tags', { path, query });
  return apiRead('/repositories/{repository}/refs/{ref}/commits', {
    path: { repository, ref },
    query: { amount: SHOWN },
  });
}

function optionOf(row: RefRow, kind: RefKind, value: string): Option {
  const icon = row.id === value ? 'check' : ICONS[kind];
  if (!('message' in row)) return { id: row.id, text: row.id, icon };
  const note = `${shortId(row.id)}, ${agoText(row.creation_date)}`;
  return { id: row.id, text: titleOf(row), note, icon };
}

function matches(row: RefRow, text: string): boolean {
  const isNamed = 'message' in row && row.message.toLowerCase().includes(text.toLowerCase());
  return isNamed || row.id.startsWith(text);
}

/** Typing narrows the list; Enter takes the chosen line, or what was typed as an expression (`main~2`). */
export function RefPicker({ repository, value, onChoose, label, kinds = ALL }: PickerProps) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  useOutside(anchor, isOpen, () => setOpen(false));
  const close = () => {
    setOpen(false);
    anchor.current?.querySelector('button')?.focus();
  };
  const choose = (ref: string) => {
    close();
    if (ref !== value) onChoose(ref);
  };
  return (
    <div class={styles.picker} ref={anchor}>
      <Button
        icon={/^[0-9a-f]{20,}$/.test(value) ? 'commit' : 'branch'}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={`${label}: ${value ? shortId(value) : 'Choose…'}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="cut">{value ? shortId(value) : 'Choose…'}</span>
        <Icon name="down" />
      </Button>
      {isOpen && (
        <RefPanel
          {...{ repository, value, label, kinds, anchor }}
          onChoose={choose}
          onClose={close}
        />
      )}
    </div>
  );
}

interface PanelProps extends PickerProps {
  anchor: { current: HTMLElement | null };
  onClose: () => void;
}

/** What is typed, the kinds of refs, and the refs of the chosen kind. */
function RefPanel({
  repository,
  value,
  label,
  kinds = ALL,
  anchor,
  onChoose,
  onClose,
}: PanelProps) {
  const [kind, setKind] = useState<RefKind>(kinds[0] ?? 'branch');
  const [text, setText] = useState('');
  const typed = text.trim();
  const asked = useSettled(typed);
  const found = useResource(readRefs(repository, kind, asked, value));
  // What is typed narrows at once what is here already.
  const rows = found.data?.results.filter(row => matches(row, typed)) ?? [];
  const isFound = asked === typed && !found.isLoading;
  const { input, options } = useCombobox({
    text,
    onText: setText,
    list: NAMES[kind],
    options: rows.map(row => optionOf(row, kind, value)),
    isFound,
    onChoose: option => {
      const ref = option?.id ?? typed;
      if (ref) onChoose(ref);
    },
    onEscape: onClose,
  });
  return (
    <Popover anchor={anchor} class={panel.panel} edge="left" role="dialog" label={label}>
      <div class={styles.head}>
        <input
          {...input}
          class="input"
          ref={element => element?.focus()}
          aria-label={`${label}: name, ID or expression`}
          placeholder="Name, ID, or main~2"
        />
      </div>
      {kinds.length > 1 && <RefKinds {...{ kinds, kind }} onKind={setKind} />}
      <Problem failure={found.failure} retry={found.reload} />
      <Options {...options} />
      {!rows.length && !isFound && <Skeleton lines={4} />}
      {!rows.length && isFound && (
        <p class={`quiet small ${styles.foot}`}>
          {typed
            ? `Nothing begins with “${typed}”. Press Enter to use it as an expression.`
            : `No ${NAMES[kind].toLowerCase()} yet.`}
        </p>
      )}
    </Popover>
  );
}

interface KindsProps {
  kinds: readonly RefKind[];
  kind: RefKind;
  onKind: (kind: RefKind) => void;
}

function RefKinds({ kinds, kind, onKind }: KindsProps) {
  return (
    <div class={`tabs ${styles.kinds}`} role="tablist">
      {kinds.map(each => (
        <button
          type="button"
          role="tab"
          key={each}
          aria-selected={each === kind}
          onClick={() => onKind(each)}
        >
          {NAMES[each]}
        </button>
      ))}
    </div>
  );
}
