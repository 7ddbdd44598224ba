/** Links to the rooms of a page; the current one is marked, and in view. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon';

interface NavLink {
  text: string;
  href: string;
  isHere: boolean;
  icon?: IconName;
  /** Shown and read aloud behind the text: how many things are there. */
  count?: ComponentChildren;
}

interface NavProps {
  /** The name of the links, read aloud. */
  label: string;
  links: readonly NavLink[];
  look: 'tabs' | 'tabs repository-tabs' | 'side-nav';
}

export function Nav({ label, links, look }: NavProps) {
  const element = useRef<HTMLElement>(null);
  const here = links.find(({ isHere }) => isHere)?.href;
  // Where the links are wider than the screen, only they scroll, and not the page.
  useEffect(() => {
    const current = element.current?.querySelector<HTMLElement>('[aria-current]');
    if (!element.current || !current) return;
    const { clientWidth } = element.current;
    element.current.scrollLeft = current.offsetLeft - (clientWidth - current.offsetWidth) / 2;
  }, [here]);
  return (
    <nav class={look} aria-label={label} ref={element}>
      {links.map(({ text, href, isHere, icon, count }) => (
        <a key={href} href={href} aria-current={isHere ? 'page' : undefined}>
          {icon && <Icon name={icon} />}
          <span class="nav-text" data-text={text}>
            {text}
          </span>
          {count}
        </a>
      ))}
    </nav>
  );
}
