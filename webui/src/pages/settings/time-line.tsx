/** Draws for how long each branch keeps what is deleted on it today. */

import { countText, dateText } from '../../parts/words';
import { endOf, type Rules, spansOf } from './rules';
import styles from './time-line.module.css';

/** One bar for each branch; the longest one is as wide as the page allows. */
export function TimeLine({ rules }: { rules: Rules }) {
  const spans = spansOf(rules);
  const longest = Math.max(1, ...spans.map(({ days }) => days));
  const now_s = Date.now() / 1000;
  return (
    <figure class={styles.timeLine}>
      <figcaption class="small quiet">
        An object that is deleted today, {dateText(now_s)}, stays readable:
      </figcaption>
      <ul>
        {spans.map(({ branch, days }) => (
          <li key={branch}>
            <span class="wrap-anywhere">
              {branch ? <code>{branch}</code> : 'All other branches'}
            </span>
            <span class={styles.track} aria-hidden="true">
              <span class={styles.days} style={{ width: `${(100 * days) / longest}%` }} />
            </span>
            <span class="small">
              <b>{untilText(days, now_s)}</b> <span class="quiet">{countText(days, 'day')}</span>
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function untilText(days: number, now_s: number): string {
  if (days === 0) return 'not at all';
  const end_s = endOf(days, now_s);
  return end_s === undefined ? 'beyond all calendars' : `until ${dateText(end_s)}`;
}
