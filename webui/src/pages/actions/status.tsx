/** How a run of hooks ended, and how long it took. */

import { sentence } from '../../api/client';
import { Badge, type Colour } from '../../parts/badge';
import type { IconName } from '../../parts/icon';

const LOOKS: Record<string, { colour?: Colour; icon: IconName }> = {
  completed: { colour: 'green', icon: 'check' },
  failed: { colour: 'red', icon: 'warning' },
  skipped: { icon: 'right' },
};

export function RunStatus({ status }: { status: string }) {
  const { colour, icon } = LOOKS[status] ?? { colour: 'indigo', icon: 'play' };
  return <Badge {...{ colour, icon }}>{sentence(status).slice(0, -1)}</Badge>;
}

/** Return whether the run may still change. */
export function isRunning({ status }: { status: string }): boolean {
  return !(status in LOOKS);
}

/** `350 ms`, `4.2 s`, `3 min`; empty for what has not ended. */
export function durationText(start: string, end: string | undefined): string {
  const took_ms = Date.parse(end ?? '') - Date.parse(start);
  if (!(took_ms >= 0)) return '';
  if (took_ms < 1000) return took_ms ? `${took_ms} ms` : 'less than 1 s';
  if (took_ms < 60_000) return `${(took_ms / 1000).toFixed(1)} s`;
  return `${Math.round(took_ms / 60_000)} min`;
}
