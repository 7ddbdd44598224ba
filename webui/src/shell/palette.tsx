/** The command palette: every page, repository and branch by a few letters of its name. */

import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../api/client';
import { useResource } from '../api/resource';
import { links } from '../links';
import { Icon, type IconName } from '../parts/icon';
import { TABS } from './repository';
import { chooseTheme } from './theme';

export const isPaletteOpen = signal(false);

interface Command {
  text: string;
  note: string;
  icon: IconName;
  run: () => void;
}

const FOUND = 8;

/** Return the commands whose names hold all of the typed words. */
function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ text: name, note }) =>
    words.every(word => `${name} ${note}`.toLowerCase().includes(word)),
  );
}

/** Return the repositories, and the branches of the current one, that begin with the text. */
async function found(
  text: string,
  repository: string,
  go: (url: string) => void,
  signal: AbortSignal,
): Promise<Command[]> {
  const query = { prefix: text, amount: FOUND };
  const [repositories, branches] = await Promise.all([
    answer(api.GET('/repositories', { params: { query }, signal })),
    repository
      ? answer(
          api.GET('/repositories/{repository}/branches', {
            params: { path: { repository }, query },
            signal,
          }),
        )
      : undefined,
  ]);
  return [
    ...(branches?.results ?? []).map(
      ({ id }): Command => ({
        text: id,
        note: 'Branch',
        icon: 'branch',
        run: () => go(links.objects(repository, id)),
      }),
    ),
    ...repositories.results.map(
      ({ id }): Command => ({
        text: id,
        note: 'Repository',
        icon: 'repository',
        run: () => go(links.objects(id)),
      }),
    ),
  ];
}

function pages(repository: string, go: (url: string) => void): Command[] {
  const inRepository = TABS.map(
    (tab): Command => ({
      text: tab.text,
      note: `Page of ${repository}`,
      icon: tab.icon,
      run: () => go(tab.href(repository)),
    }),
  );
  return [
    ...(repository ? inRepository : []),
    { text: 'Repositories', note: 'Page', icon: 'repository', run: () => go(links.repositories()) },
    { text: 'My access keys', note: 'Page', icon: 'key', run: () => go(links.credentials()) },
    { text: 'Users', note: 'Administration', icon: 'user', run: () => go(links.users()) },
    { text: 'Groups', note: 'Administration', icon: 'group', run: () => go(links.groups()) },
    { text: 'Policies', note: 'Administration', icon: 'policy', run: () => go(links.policies()) },
    { text: 'Light colours', note: 'Theme', icon: 'sun', run: () => chooseTheme('light') },
    { text: 'Dark colours', note: 'Theme', icon: 'moon', run: () => chooseTheme('dark') },
    {
      text: 'Colours of the system',
      note: 'Theme',
      icon: 'settings',
      run: () => chooseTheme('system'),
    },
  ];
}

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const { path, route } = useLocation();
  const repository = path.startsWith('/repositories/')
    ? decodeURIComponent(path.split('/')[2] ?? '')
    : '';
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { data } = useResource(['palette', repository, text], signal =>
    found(text.trim(), repository, route, signal),
  );
  const commands = [...matching(pages(repository, route), text), ...(data ?? [])];
  const close = () => {
    isPaletteOpen.value = false;
  };
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  useEffect(() => {
    element.current?.showModal();
  }, []);
  // The braces matter: Chromium's scrollIntoView returns a promise, which is no cleanup.
  useEffect(() => {
    element.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setAt(Math.max(0, Math.min(commands.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[at]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes, as Escape does
    <dialog
      ref={element}
      class="dialog palette"
      aria-label="Find or go to"
      onClose={close}
      onClick={event => event.target === element.current && close()}
    >
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-options"
        aria-activedescendant={`palette-option-${at}`}
        aria-label="Repository, branch or page"
        placeholder="Repository, branch or page"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={event => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="options" id="palette-options" role="listbox" aria-label="Found">
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
          <div
            class="option"
            role="option"
            id={`palette-option-${index}`}
            key={`${command.note} ${command.text}`}
            aria-selected={index === at}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span class="cut grow">{command.text}</span>
            <span class="quiet small">{command.note}</span>
          </div>
        ))}
        {!commands.length && (
          <p class="quiet" style={{ padding: '12px' }}>
            Nothing found.
          </p>
        )}
      </div>
    </dialog>
  );
}
