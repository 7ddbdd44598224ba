/** The states of pull requests and of their reviews, as badges. */

import { Badge } from '../../parts/badge';
import type { Opinion } from './reviews';

const LOOKS = {
  open: { colour: 'green', icon: 'pull', text: 'Open' },
  merged: { colour: 'indigo', icon: 'merge', text: 'Merged' },
  contained: { colour: 'indigo', icon: 'merge', text: 'Merged elsewhere' },
  closed: { colour: 'red', icon: 'close', text: 'Closed' },
  awaited: { colour: undefined, icon: 'clock', text: 'No review yet' },
  approved: { colour: 'green', icon: 'check', text: 'Approved' },
  changes_requested: { colour: 'red', icon: 'close', text: 'Changes requested' },
  outdated: { colour: 'amber', icon: 'clock', text: 'Reviewed an earlier commit' },
} as const;

function StateBadge({ state, text }: { state: keyof typeof LOOKS; text?: string }) {
  const { text: usual, ...look } = LOOKS[state];
  return <Badge {...look}>{text ?? usual}</Badge>;
}

interface StatusProps {
  status: string;
  /** Whether the destination has every commit of an open one. */
  is_contained?: boolean;
}

export function PullStatus({ status, is_contained }: StatusProps) {
  return (
    <StateBadge state={is_contained ? 'contained' : (status as 'open' | 'merged' | 'closed')} />
  );
}

/** What one reviewer has said, or what `text` says of several. */
export function OpinionBadge({ opinion, text }: { opinion: Opinion; text?: string }) {
  return <StateBadge state={opinion} text={text} />;
}
