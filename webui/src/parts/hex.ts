/** Return the bytes as hexadecimal digits. */
export function hex(bytes: Iterable<number>, separator = ''): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(separator);
}
