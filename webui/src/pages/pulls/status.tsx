/** The state of a pull request, as a badge. */

import { Icon } from '../../parts/icon';

const LOOKS = {
  open: { look: 'green', icon: 'pull', text: 'Open' },
  merged: { look: 'indigo', icon: 'merge', text: 'Merged' },
  closed: { look: 'red', icon: 'close', text: 'Closed' },
} as const;

export function PullStatus({ status }: { status: string }) {
  const { look, icon, text } = LOOKS[status as keyof typeof LOOKS] ?? LOOKS.open;
  return (
    <span class={`badge ${look}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}

/** Return the time as Unix seconds. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}
