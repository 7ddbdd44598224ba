/** What the cells of a table show as text. */

/** Return what a cell shows: JSON for nested values, ISO for times. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'invalid time' : value.toISOString();
  if (value instanceof Uint8Array)
    return [...value.subarray(0, 64)].map(byte => byte.toString(16).padStart(2, '0')).join(' ');
  if (typeof value === 'object' && value !== null) return jsonOf(value);
  return String(value);
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? numberOf(part) : part));
  } catch (error) {
    if (error instanceof RangeError) return '(nested too deep to show)';
    throw error;
  }
}

/** Return what JSON shows of the integer: a text if a number of JavaScript would round it. */
function numberOf(integer: bigint): number | string {
  const rounded = Number(integer);
  return Number.isSafeInteger(rounded) ? rounded : String(integer);
}
