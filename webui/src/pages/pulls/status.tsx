/** The state of a pull request, as a badge. */

import { Badge } from '../../parts/badge';

const LOOKS = {
  open: { colour: 'green', icon: 'pull', text: 'Open' },
  merged: { colour: 'indigo', icon: 'merge', text: 'Merged' },
  closed: { colour: 'red', icon: 'close', text: 'Closed' },
} as const;

export function PullStatus({ status }: { status: string }) {
  const { colour, icon, text } = LOOKS[status as keyof typeof LOOKS] ?? LOOKS.open;
  return <Badge {...{ colour, icon }}>{text}</Badge>;
}

/** Return the time as Unix seconds. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}
