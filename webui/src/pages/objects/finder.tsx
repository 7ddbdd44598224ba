/** Finds objects by any part of their paths, among the first thousands at a ref. */

import './styles.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { eachPage } from '../../api/objects';
import { useAction } from '../../api/resource';
import { links } from '../../links';
import { Icon } from '../../parts/icon';
import { Problem } from '../../parts/state';
import { countText } from '../../parts/words';
import { iconOf } from './row';

const LISTED_MAX = 10_000;
const SHOWN = 50;

interface FinderProps {
  repository: string;
  at: string;
  onClose: () => void;
}

/** Load the paths at the ref, page by page, up to the limit. */
function usePaths(repository: string, at: string) {
  const [paths, setPaths] = useState<string[]>([]);
  const [isCut, setCut] = useState(false);
  const { run, isBusy, failure } = useAction(async (signal: AbortSignal) => {
    let found: string[] = [];
    for await (const page of eachPage(repository, at, '', signal)) {
      if (found.length >= LISTED_MAX) return setCut(true);
      found = [...found, ...page.map(({ path }) => path)];
      setPaths(found);
    }
  });
  useEffect(() => {
    const abort = new AbortController();
    run(abort.signal);
    return () => abort.abort();
  }, [repository, at]);
  return { paths, isCut, isBusy, failure };
}

/** Return the paths that hold every word, those first whose names do. */
function matching(paths: readonly string[], text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (part: string) => words.every(word => part.toLowerCase().includes(word));
  const found = paths.filter(holds);
  const isNamed = (path: string) => holds(path.slice(path.lastIndexOf('/') + 1));
  return [...found.filter(isNamed), ...found.filter(path => !isNamed(path))];
}

export default function Finder({ repository, at, onClose }: FinderProps) {
  const { route } = useLocation();
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { paths, isCut, isBusy, failure } = usePaths(repository, at);
  const found = matching(paths, text);
  const shown = found.slice(0, SHOWN);
  const open = (path: string | undefined) => {
    if (path === undefined) return;
    onClose();
    route(links.object(repository, at, path));
  };
  useEffect(() => {
    element.current?.showModal();
  }, []);
  useEffect(() => {
    element.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen(Math.max(0, Math.min(shown.length - 1, chosen + step)));
    else if (event.key === 'Enter') open(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes, as Escape does
    <dialog
      ref={element}
      class="dialog palette"
      aria-label={`Find an object at ${at}`}
      onClose={onClose}
      onClick={event => event.target === element.current && onClose()}
    >
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="finder-options"
        aria-activedescendant={shown.length ? `finder-option-${chosen}` : undefined}
        aria-label="A part of the path"
        placeholder="A part of the path"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={event => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Options {...{ shown, chosen }} onOpen={open} />
      <p class="small quiet finder-foot" role="status">
        {countText(found.length, 'object')} of {paths.length.toLocaleString('en')}
        {isBusy && ' so far…'}
        {isCut && `: only the first ${LISTED_MAX.toLocaleString('en')} are searched`}
      </p>
      <Problem failure={failure?.name === 'AbortError' ? undefined : failure} />
    </dialog>
  );
}

interface OptionsProps {
  shown: readonly string[];
  chosen: number;
  onOpen: (path: string) => void;
}

function Options({ shown, chosen, onOpen }: OptionsProps) {
  return (
    <div class="options" id="finder-options" role="listbox" aria-label="Found objects">
      {shown.map((path, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
        <div
          class="option"
          role="option"
          id={`finder-option-${index}`}
          key={path}
          aria-selected={index === chosen}
          onClick={() => onOpen(path)}
        >
          <Icon name={iconOf(path)} />
          <span class="grow wrap-anywhere">{path}</span>
        </div>
      ))}
    </div>
  );
}
