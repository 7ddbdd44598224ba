/** A box over everything, beside what opened it; no list or dialog around it cuts it off. */

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import styles from './popover.module.css';

interface PopoverProps {
  /** What it belongs to; it is placed below, or above if only there is room. */
  anchor: { current: HTMLElement | null };
  class: string | undefined;
  /** Which edges of the two are in line. */
  edge?: 'left' | 'right';
  role?: 'dialog';
  label?: string;
  onClick?: () => void;
  children: ComponentChildren;
}

const GAP_PX = 4;
const MARGIN_PX = 8;

/** Place the box beside the anchor, inside the window. */
function place(box: HTMLElement, anchor: HTMLElement, edge: 'left' | 'right'): void {
  const by = anchor.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const left = edge === 'left' ? by.left : by.right - width;
  // Without the room of the scroll bar, which innerWidth counts.
  const page_px = document.body.clientWidth;
  const below_px = innerHeight - MARGIN_PX - by.bottom - GAP_PX;
  const above_px = by.top - GAP_PX - MARGIN_PX;
  const isBelow = height <= below_px || below_px >= above_px;
  box.style.left = `${Math.max(MARGIN_PX, Math.min(left, page_px - width - MARGIN_PX))}px`;
  // What does not fit scrolls inside.
  box.style.maxHeight = `${isBelow ? below_px : above_px}px`;
  box.style.top = `${isBelow ? by.bottom + GAP_PX : by.top - GAP_PX - Math.min(height, above_px)}px`;
}

export function Popover({
  anchor,
  class: name,
  edge = 'right',
  role,
  label,
  onClick,
  children,
}: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [element, by] = [box.current, anchor.current];
    if (!element || !by) return;
    element.showPopover();
    const adjust = () => place(element, by, edge);
    adjust();
    const observer = new ResizeObserver(adjust);
    observer.observe(element);
    addEventListener('scroll', adjust, true);
    addEventListener('resize', adjust);
    return () => {
      observer.disconnect();
      removeEventListener('scroll', adjust, true);
      removeEventListener('resize', adjust);
    };
  }, [anchor, edge]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: what is inside takes the keys
    // biome-ignore lint/a11y/noStaticElementInteractions: a click inside is a choice
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a box with a label is a dialog
    <div
      ref={box}
      popover="manual"
      class={`${styles.popover} ${name}`}
      role={role}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </div>
  );
}
