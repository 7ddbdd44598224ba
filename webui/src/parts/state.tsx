/** What a page shows in place of data: that they load, that they failed, that there are none. */

import type { ComponentChildren } from 'preact';
import type { Failure } from '../api/client';
import { Button } from './button';
import { Icon, type IconName } from './icon';
import { visible } from './words';

type NoticeKind = 'info' | 'success' | 'warning' | 'danger';

const ICONS: Record<NoticeKind, IconName> = {
  info: 'info',
  success: 'check',
  warning: 'warning',
  danger: 'warning',
};

/** A box that tells something. A danger is read aloud at once. */
export function Notice({
  kind = 'info',
  children,
}: {
  kind?: NoticeKind;
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'danger' ? 'alert' : undefined}>
      <Icon name={ICONS[kind]} />
      <div class="grow">{children}</div>
    </div>
  );
}

// Another try would be refused as well.
const REFUSED = [400, 401, 403, 404, 410];

interface ProblemProps {
  failure: Failure | undefined;
  retry?: () => void;
  /** What `retry` is called. */
  action?: string;
}

/** Tells the failure, and offers to try again. Shows nothing without a failure. */
export function Problem({ failure, retry, action = 'Try again' }: ProblemProps) {
  if (!failure) return null;
  return (
    <Notice kind="danger">
      <div class="bar">
        <span class="grow">{visible(failure.message)}</span>
        {retry && !REFUSED.includes(failure.status) && (
          <Button isSmall icon="refresh" onClick={retry}>
            {action}
          </Button>
        )}
      </div>
    </Notice>
  );
}

const WIDTHS = [62, 88, 74, 95, 56, 80, 68];

/** Grey lines in place of a list that is being loaded. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} style={{ width: `${WIDTHS[line % WIDTHS.length]}%` }} />
      ))}
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What this is for, and the next step. */
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

/** Says that there is nothing yet, and teaches the next step. */
export function Empty({ icon, title, children, actions }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div class="bar">{actions}</div>}
    </div>
  );
}

/** A bar that fills; `done` of `total`, or an unknown share without `total`. */
export function Progress({ done, total, label }: { done: number; total?: number; label: string }) {
  const share = total ? Math.min(100, (100 * done) / total) : undefined;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share}
    >
      <div style={{ width: `${share ?? 100}%`, opacity: share === undefined ? 0.4 : 1 }} />
    </div>
  );
}
