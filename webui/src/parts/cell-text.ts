/** Return what a cell shows of a text, a number or a value of JSON. */
export function cellText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '(nested too deep to show)';
    throw error;
  }
}
