/** Chooses a branch, a tag, a commit or any ref expression. */

import { useRef, useState } from 'preact/hooks';
import { answer, api } from '../api/client';
import { type Resource, useResource } from '../api/resource';
import { Button } from './button';
import { Icon, type IconName } from './icon';
import { useOutside } from './menu';
import { Popover } from './popover';
import { Problem, Skeleton } from './state';
import { agoText, shortId } from './words';

export type RefKind = 'branch' | 'tag' | 'commit';

interface Choice {
  ref: string;
  kind: RefKind;
  text: string;
  note?: string;
}

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

/** Return the choices of one kind whose names begin with the prefix; commits are those of the ref. */
async function choices(
  repository: string,
  kind: RefKind,
  prefix: string,
  ref: string,
  signal: AbortSignal,
): Promise<Choice[]> {
  const path = { repository };
  const query = { prefix, amount: SHOWN };
  if (kind === 'commit') {
    const of = { params: { path: { repository, ref }, query: { amount: SHOWN } }, signal };
    const { results } = await answer(api.GET('/repositories/{repository}/refs/{ref}/commits', of));
    const matching = results.filter(
      ({ id, message }) =>
        id.startsWith(prefix) || message.toLowerCase().includes(prefix.toLowerCase()),
    );
    return matching.map(({ id, message, creation_date }) => ({
      ref: id,
      kind,
      text: message.split('\n')[0] || shortId(id),
      note: `${shortId(id)}, ${agoText(creation_date)}`,
    }));
  }
  const list =
    kind === 'branch' ? '/repositories/{repository}/branches' : '/repositories/{repository}/tags';
  const { results } = await answer(api.GET(list, { params: { path, query }, signal }));
  return results.map(({ id }) => ({ ref: id, kind, text: id }));
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
  const found = useResource([repository, kind, text, value], signal =>
    choices(repository, kind, text.trim(), value, signal),
  );
  const count = found.data?.length ?? 0;
  return (
    <Popover anchor={anchor} class="panel" edge="left" role="dialog" label={label}>
      <Typed
        {...{ label, text, at, count, onClose }}
        onText={typed => {
          setText(typed);
          setAt(0);
        }}
        onMove={step => setAt(Math.max(0, Math.min(count - 1, at + step)))}
        onEnter={() => {
          const ref = found.data?.[at]?.ref ?? text.trim();
          if (ref) onChoose(ref);
        }}
      />
      {kinds.length > 1 && <Kinds {...{ kinds, kind }} onKind={setKind} />}
      <Options {...{ kind, text, value, at, onChoose }} found={found} />
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
  found: Resource<Choice[]>;
  onChoose: (ref: string) => void;
}

function Options({ kind, text, value, at, found, onChoose }: OptionsProps) {
  const { data, failure, reload } = found;
  return (
    <div class="options" id="ref-options" role="listbox" aria-label={NAMES[kind]}>
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton lines={4} />}
      {data?.map((choice, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
        <div
          class="option"
          role="option"
          id={`ref-option-${index}`}
          key={choice.ref}
          aria-selected={index === at}
          onClick={() => onChoose(choice.ref)}
        >
          <Icon name={choice.ref === value ? 'check' : ICONS[choice.kind]} />
          <span class="cut grow">{choice.text}</span>
          {choice.note && <span class="quiet small">{choice.note}</span>}
        </div>
      ))}
      {data?.length === 0 && (
        <p class="quiet small" style={{ padding: '10px' }}>
          {text
            ? `Nothing begins with “${text}”. Press Enter to use it as an expression.`
            : `No ${NAMES[kind].toLowerCase()} yet.`}
        </p>
      )}
    </div>
  );
}
