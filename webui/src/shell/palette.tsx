/** The command palette: every page, repository and branch by a few letters of its name. */

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answerOf, apiRead } from '../api/cache';
import { useResource } from '../api/resource';
import { links, repositoryOf } from '../links';
import { type Choice, Chooser } from '../parts/chooser';
import { matcher } from '../parts/matching';
import { useSettled } from '../parts/settled';
import { TABS } from './repository';
import { chooseTheme } from './theme';

export const isPaletteOpen = signal(false);

type Command = Omit<Required<Choice>, 'id'>;

const FOUND = 8;

/** Return the repositories, and the branches of the current one, that begin with the prefix. */
async function found(
  prefix: string,
  repository: string,
  go: (url: string) => void,
  signal: AbortSignal,
): Promise<Command[]> {
  const query = { prefix, amount: FOUND };
  const [repositories, branches] = await Promise.all([
    answerOf(apiRead('/repositories', { query }), signal),
    repository
      ? answerOf(
          apiRead('/repositories/{repository}/branches', { path: { repository }, query }),
          signal,
        )
      : undefined,
  ]);
  return [
    ...(branches?.results ?? []).map(
      ({ id }): Command => ({
        text: id,
        note: `Branch of ${repository}`,
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
    {
      text: 'Access explainer',
      note: 'Administration',
      icon: 'help',
      run: () => go(links.access()),
    },
    { text: 'Audit', note: 'Administration', icon: 'history', run: () => go(links.audit()) },
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
  const repository = repositoryOf(path);
  const [text, setText] = useState('');
  // The word that is being typed names something; those before it say where, or of what kind it is.
  const prefix = text.trim().split(/\s+/).at(-1) ?? '';
  const asked = useSettled(prefix);
  const { data, isLoading } = useResource(['palette', repository, asked], signal =>
    found(asked, repository, route, signal),
  );
  const isMatch = matcher(text);
  const matching = (commands: Command[]) =>
    commands.filter(command => isMatch(`${command.text} ${command.note}`));
  const here = matching(pages(repository, route));
  const choices = [...here, ...matching(data ?? [])].map(command => ({
    ...command,
    id: `${command.note} ${command.text}`,
  }));
  const isFound = asked === prefix && !isLoading;
  return (
    <Chooser
      title="Find or go to"
      label="Repository, branch or page"
      {...{ text, choices, isFound }}
      certain={here.length}
      onText={setText}
      onClose={() => {
        isPaletteOpen.value = false;
      }}
    >
      {isFound && !choices.length && 'Nothing found.'}
    </Chooser>
  );
}
