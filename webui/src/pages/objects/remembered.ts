/**
 * What this browser remembers of an unfinished upload, so that it goes on after a reload.
 *
 * A file may have the name, size and time of the one before, and other content: a copy that keeps
 * times, a restored backup. So a part counts as sent only if its digest is the same.
 */

export interface Remembered {
  uploadId: string;
  /** The digest of each part that has arrived, by its number. */
  digests: Record<number, string>;
}

/** Return what is remembered by the key, if anything. */
export function recall(key: string): Remembered | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined; // the browser keeps nothing, or something else
  }
}

export function remember(key: string, upload: Remembered): void {
  try {
    localStorage.setItem(key, JSON.stringify(upload));
  } catch {
    // A full or forbidden storage costs only that the upload begins anew.
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // As above.
  }
}

/** Return a digest of the content; nothing where the page did not come by TLS, or from this machine. */
export async function digestOf(content: ArrayBuffer): Promise<string | undefined> {
  if (!crypto.subtle) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return [...digest.subarray(0, 16)].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
