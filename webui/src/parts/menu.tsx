/** A button that opens a menu of actions. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button';
import type { IconName } from './icon';
import styles from './menu.module.css';
import { Popover } from './popover';
import { stepTo } from './steps';

const ENTRIES = '[popover] :is(a, button:not(:disabled))';

interface MenuProps {
  label: string;
  icon?: IconName;
  /** Text on the button; without it, only the icon shows. */
  text?: string;
  isSmall?: boolean;
  kind?: 'primary' | 'ghost';
  /** Buttons and links; a click on one closes the menu. */
  children: ComponentChildren;
}

/**
 * Arrow keys move in it; Escape, a click elsewhere or a choice closes it.
 *
 * It is a disclosure of buttons and links, and no ARIA menu: such a one may hold no text.
 */
export function Menu({ label, icon = 'more', text, isSmall, kind = 'ghost', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  useOutside(anchor, isOpen, () => setOpen(false));

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      event.preventDefault(); // a dialog around it stays open
      setOpen(false);
      anchor.current?.querySelector('button')?.focus();
    }
    const entries = [...(anchor.current?.querySelectorAll<HTMLElement>(ENTRIES) ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = stepTo(event.key, at, entries.length);
    if (next === undefined) return;
    event.preventDefault();
    entries[next]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the menu inside
    <div class={styles.anchor} ref={anchor} onKeyDown={onKeyDown}>
      <Button
        kind={kind}
        isSmall={isSmall}
        icon={icon}
        label={text ? undefined : label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {text}
      </Button>
      {isOpen && (
        <Popover anchor={anchor} class={styles.menu} onClick={() => setOpen(false)}>
          {children}
        </Popover>
      )}
    </div>
  );
}

/** Call `act` when the user clicks, or moves the focus, out of the element. */
export function useOutside(
  element: { current: HTMLElement | null },
  isActive: boolean,
  act: () => void,
): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isActive) return;
    const check = (event: Event) => {
      const { current } = element;
      if (!current || !(event.target instanceof Node)) return;
      // A click on text inside gives the focus to what is around: to a dialog, or the whole page.
      if (event.type === 'focusin' && event.target.contains(current)) return;
      if (!current.contains(event.target)) latest.current();
    };
    document.addEventListener('pointerdown', check);
    document.addEventListener('focusin', check);
    return () => {
      document.removeEventListener('pointerdown', check);
      document.removeEventListener('focusin', check);
    };
  }, [isActive, element]);
}
