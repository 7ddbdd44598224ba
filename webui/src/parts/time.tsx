import { agoText, momentText } from './words';

/** How long ago it was; the exact moment when the pointer rests on it. `at` is in Unix seconds. */
export function Time({ at }: { at: number }) {
  return (
    <time datetime={new Date(at * 1000).toISOString()} title={momentText(at)}>
      {agoText(at)}
    </time>
  );
}
