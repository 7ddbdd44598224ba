/** Return the place of `count` that an arrow key leads to from `at`, around the ends; -1 is none yet. */
export function stepTo(key: string, at: number, count: number): number | undefined {
  if (!count) return undefined;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at <= 0 ? count : at) - 1;
  return undefined;
}
