/** The two versions of a changed object: their facts and, while they are small, their content. */

import { answer, api, Failure, failureOfAnswer, type Schemas } from '../../api/client';
import type { Sides } from './source';

export type ObjectStats = Schemas['ObjectStats'];

export interface Version {
  ref: string;
  /** Nothing where the object does not exist. */
  stats?: ObjectStats;
}

export interface Versions {
  left: Version;
  right: Version;
}

async function versionOf(
  repository: string,
  ref: string,
  path: string,
  signal: AbortSignal,
): Promise<Version> {
  try {
    const params = { path: { repository, ref }, query: { path } };
    const stats = await answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/stat', { params, signal }),
    );
    return { ref, stats };
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return { ref };
    throw error;
  }
}

export async function versionsOf(
  repository: string,
  sides: Sides,
  path: string,
  signal: AbortSignal,
): Promise<Versions> {
  const [left, right] = await Promise.all([
    versionOf(repository, sides.left, path, signal),
    versionOf(repository, sides.right, path, signal),
  ]);
  return { left, right };
}

/** The address of an object's content. */
export function contentAddress(repository: string, ref: string, path: string): string {
  const query = new URLSearchParams({ path });
  return `/api/v1/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/objects?${query}`;
}

/** Return the content of a version; nothing where there is none. */
export async function bytesOf(
  repository: string,
  version: Version,
  path: string,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  if (!version.stats) return new ArrayBuffer(0);
  const response = await fetch(contentAddress(repository, version.ref, path), { signal });
  if (!response.ok)
    throw failureOfAnswer(response.status, await response.json().catch(() => undefined));
  return response.arrayBuffer();
}

/** Return the text of UTF-8 bytes; nothing for other bytes. */
export function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
