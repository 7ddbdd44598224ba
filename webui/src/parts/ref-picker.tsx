/** Chooses a branch, a tag, a commit or any ref expression. */

import { useRef, useState } from 'preact/hooks';
import { apiRead, type Read } from '../api/cache';
import type { Schemas } from '../api/client';
import { useResource } from '../api/resource';
import { Button } from './button';
import { Icon, type IconName } from './icon';
import { useOutside } from './menu';
import { Popover } from './popover';
import { useEnter, useSettled } from './settled';
import { Problem, Skeleton } from './state';
import { agoText, shortId } from './words';

export type RefKind = 'branch' | 'tag' | 'commit';

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

function titleOf(row: RefRow): string {
  return 'message' in row ? row.message.split('\n')[0] || shortId(row.id) : row.id;
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
  const choose = (ref: string) => {
    setOpen(false);
    anchor.current?.querySelector('button')?.focus();
    if (ref !== value) onChoose(ref);
  };
  return (
    <div class="picker" ref={anchor}>
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
        <Panel
          {...{ repository, value, label, kinds, anchor }}
          onChoose={choose}
          onClose={() => setOpen(false)}
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
function Panel({ repository, value, label, kinds = ALL, anchor, onChoose, onClose }: PanelProps) {
  const [kind, setKind] = useState<RefKind>(kinds[0] ?? 'branch');
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const typed = text.trim();
  const asked = useSettled(typed);
  const found = useResource(readRefs(repository, kind, asked, value));
  // What is typed narrows at once what is here already.
  const rows = found.data?.results.filter(row => matches(row, typed));
  const count = rows?.length ?? 0;
  const isFound = asked === typed && !found.isLoading;
  const onEnter = useEnter(text, isFound, () => {
    const ref = rows?.[at]?.id ?? typed;
    if (ref) onChoose(ref);
  });
  return (
    <Popover anchor={anchor} class="panel" edge="left" role="dialog" label={label}>
      <Typed
        {...{ label, text, at, count, onEnter, onClose }}
        onText={changed => {
          setText(changed);
          setAt(0);
        }}
        onMove={step => setAt(Math.max(0, Math.min(count - 1, at + step)))}
      />
      {kinds.length > 1 && <Kinds {...{ kinds, kind }} onKind={setKind} />}
      <Problem failure={found.failure} retry={found.reload} />
      <Options {...{ kind, value, at, rows, isFound, onChoose }} text={typed} />
    </Popover>
  );
}

interface TypedProps {
  label: string;
  text: string;
  /** The line that is chosen, of so many. */
  at: number;
  count: number;
  onText: (text: string) => void;
  onMove: (step: number) => void;
  onEnter: () => void;
  onClose: () => void;
}

/** The input, whose keys move in the list below. */
function Typed({ label, text, at, count, onText, onMove, onEnter, onClose }: TypedProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      onMove(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      onEnter();
    }
  };
  return (
    <div class="head">
      <input
        class="input"
        ref={input => input?.focus()}
        role="combobox"
        aria-expanded="true"
        aria-controls="ref-options"
        aria-activedescendant={count ? `ref-option-${at}` : undefined}
        aria-label={`${label}: name, ID or expression`}
        placeholder="Name, ID, or main~2"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={event => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

interface KindsProps {
  kinds: readonly RefKind[];
  kind: RefKind;
  onKind: (kind: RefKind) => void;
}

function Kinds({ kinds, kind, onKind }: KindsProps) {
  return (
    <div class="tabs" role="tablist">
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

interface OptionsProps {
  kind: RefKind;
  text: string;
  value: string;
  at: number;
  rows: readonly RefRow[] | undefined;
  isFound: boolean;
  onChoose: (ref: string) => void;
}

function Options({ kind, text, value, at, rows, isFound, onChoose }: OptionsProps) {
  return (
    <div class="options" id="ref-options" role="listbox" aria-label={NAMES[kind]}>
      {!rows?.length && !isFound && <Skeleton lines={4} />}
      {rows?.map((row, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
        <div
          class="option"
          role="option"
          id={`ref-option-${index}`}
          key={row.id}
          aria-selected={index === at}
          onClick={() => onChoose(row.id)}
        >
          <Icon name={row.id === value ? 'check' : ICONS[kind]} />
          <span class="cut grow">{titleOf(row)}</span>
          {'message' in row && (
            <span class="quiet small">
              {shortId(row.id)}, {agoText(row.creation_date)}
            </span>
          )}
        </div>
      ))}
      {isFound && rows?.length === 0 && (
        <p class="quiet small" style={{ padding: '10px' }}>
          {text
            ? `Nothing begins with “${text}”. Press Enter to use it as an expression.`
            : `No ${NAMES[kind].toLowerCase()} yet.`}
        </p>
      )}
    </div>
  );
}
