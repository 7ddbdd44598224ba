/** Keeps a failure in its part of the page: what is around that part works on. */

import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { Notice } from './state';

/** Shows the children; if drawing them fails, what is told instead. */
export function Guard({ told, children }: { told: string; children: ComponentChildren }) {
  const [error] = useErrorBoundary(reason => console.error(reason));
  return error ? <Notice kind="warning">{told}</Notice> : <>{children}</>;
}
