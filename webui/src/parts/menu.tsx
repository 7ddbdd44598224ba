/** A button that opens a menu of actions. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button';
import type { IconName } from './icon';
import { Popover } from './popover';

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

/** Arrow keys move in it; Escape, a click elsewhere or a choice closes it. */
export function Menu({ label, icon = 'more', text, isSmall, kind = 'ghost', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  useOutside(anchor, isOpen, () => setOpen(false));

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      setOpen(false);
      anchor.current?.querySelector('button')?.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const entries = [
      ...(anchor.current?.querySelectorAll<HTMLElement>('.menu a, .menu button:not(:disabled)') ??
        []),
    ];
    if (!entries.length) return;
    event.preventDefault();
    const step = event.key === 'ArrowDown' ? 1 : -1;
    const at = entries.indexOf(document.activeElement as HTMLElement);
    entries[(at + step + entries.length) % entries.length]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the menu inside
    <div class="menu-anchor" ref={anchor} onKeyDown={onKeyDown}>
      <Button
        kind={kind}
        isSmall={isSmall}
        icon={icon}
        label={text ? undefined : label}
        aria-haspopup="true"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {text}
      </Button>
      {isOpen && (
        <Popover anchor={anchor} class="menu" onClick={() => setOpen(false)}>
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
