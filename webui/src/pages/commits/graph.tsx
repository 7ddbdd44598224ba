/** One row of the graph of commits: lines between lanes, and a dot for the commit. */

import { ROW_PX } from '../../parts/row';
import styles from './graph.module.css';
import type { GraphRow, Line } from './lanes';

const LANE_PX = 14;
const MIDDLE = ROW_PX / 2;
/** Further lanes would leave no place for the messages. */
const LANES_SHOWN = 10;

const x = (lane: number) => Math.min(lane, LANES_SHOWN) * LANE_PX + LANE_PX / 2 + 2;

function pathOf({ from, to, part }: Line): string {
  const [top, bottom] =
    part === 'into' ? [0, MIDDLE] : part === 'out' ? [MIDDLE, ROW_PX] : [0, ROW_PX];
  if (from === to) return `M${x(from)} ${top}V${bottom}`;
  const bend = (top + bottom) / 2;
  return `M${x(from)} ${top}C${x(from)} ${bend} ${x(to)} ${bend} ${x(to)} ${bottom}`;
}

/** Return how wide the graph is for so many lanes. */
export function graphWidth(lanes: number): number {
  return x(Math.min(Math.max(lanes, 1), LANES_SHOWN + 1) - 1) + LANE_PX / 2 + 2;
}

export function Graph({ row, width, isMerge }: { row: GraphRow; width: number; isMerge: boolean }) {
  const colour = (number: number) => `var(--lane-${number + 1})`;
  return (
    <svg class={styles.graph} width={width} height={ROW_PX} aria-hidden="true">
      {row.lines.map(line => (
        <path
          key={`${line.part} ${line.from} ${line.to}`}
          d={pathOf(line)}
          stroke={colour(line.colour)}
          fill="none"
          stroke-width="2"
        />
      ))}
      <circle
        cx={x(row.lane)}
        cy={MIDDLE}
        r={isMerge ? 3.5 : 4.5}
        fill={isMerge ? 'var(--page)' : colour(row.colour)}
        stroke={colour(row.colour)}
        stroke-width="2"
      />
    </svg>
  );
}
