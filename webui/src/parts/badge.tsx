/** A state or a count in a few letters. */

import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon';

export type Colour = 'green' | 'red' | 'amber' | 'indigo';

interface BadgeProps {
  colour?: Colour;
  icon?: IconName;
  title?: string;
  children: ComponentChildren;
}

export function Badge({ colour, icon, title, children }: BadgeProps) {
  return (
    <span class={`badge ${colour ?? ''}`} title={title}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}
