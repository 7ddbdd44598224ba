/**
 * What this browser remembers of an unfinished upload, so that it goes on after a reload.
 *
 * A file may have the name, size and time of the one before, and other content: a copy that keeps
 * times, a restored backup. So a part counts as sent only if its digest is the same.
 */

import { hex } from '../../parts/hex';

export interface Remembered {
  uploadId: string;
  /** The digest of each part that has arrived, by its number. */
  digests: Record<number, string>;
}

/** Return a digest of the content; nothing where the page did not come by TLS, or from this machine. */
export async function digestOf(content: ArrayBuffer): Promise<string | undefined> {
  if (!crypto.subtle) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return hex(digest.subarray(0, 16));
}
