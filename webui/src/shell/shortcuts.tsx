/** Keys for every page, and the dialog that lists them. A key never acts while one types. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { links, repositoryOf } from '../links';
import { Dialog } from '../parts/dialog';
import { actOf } from './keys';
import { isPaletteOpen } from './palette';
import { TABS } from './repository';

const isHelpOpen = signal(false);

const LEADER_MS = 1200;

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

export function Shortcuts() {
  const { path, query, route } = useLocation();
  useEffect(() => {
    let ledAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isPaletteOpen.value = true;
        return;
      }
      if (
        isTyping(event) ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector('dialog[open]')
      )
        return;
      const repository = repositoryOf(path);
      if (event.key === '?') isHelpOpen.value = true;
      else if (event.key === 'g') ledAt = Date.now();
      else if (Date.now() - ledAt < LEADER_MS) {
        ledAt = 0;
        if (event.key === 'r') route(links.repositories());
        const tab = TABS.find(({ key }) => key === event.key);
        if (repository && tab) route(tab.href(repository, query.ref));
      } else {
        const act = actOf(event.key);
        if (!act) return;
        event.preventDefault(); // the key must not be typed into what it opens
        act();
      }
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [path, query.ref, route]);

  if (!isHelpOpen.value) return null;
  return (
    <Dialog
      title="Keyboard shortcuts"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <dl class="facts">
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>Find or go to: repositories, branches, pages</dd>
        <dt>
          <kbd>g</kbd> <kbd>r</kbd>
        </dt>
        <dd>Repositories</dd>
        {TABS.map(({ key, text }) => (
          <>
            <dt key={key}>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
        <dt>
          <kbd>t</kbd>
        </dt>
        <dd>Find an object by a part of its path</dd>
        <dt>
          <kbd>y</kbd>
        </dt>
        <dd>Permanent address: the commit in place of the branch or tag</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>This list</dd>
      </dl>
    </Dialog>
  );
}
