/** The two versions of a changed object: their facts and, while they are small, their content. */

import { fetchRange, find, type ObjectStats } from '../../api/objects';
import type { Sides } from './source';

export interface Version {
  ref: string;
  /** Nothing where the object does not exist. */
  stats?: ObjectStats;
}

export interface Versions {
  left: Version;
  right: Version;
}

/** Return the version; a question for its facts alone would fail where there is none. */
async function versionOf(
  repository: string,
  ref: string,
  path: string,
  signal: AbortSignal,
): Promise<Version> {
  const stats = await find({ repository, ref, path }, signal);
  return { ref, ...(stats && { stats }) };
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

/** Return the content of a version; nothing where there is none. */
export async function bytesOf(
  repository: string,
  { ref, stats }: Version,
  path: string,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  if (!stats) return new ArrayBuffer(0);
  return (await fetchRange({ repository, ref, path }, 0, stats.size_bytes, signal)).buffer;
}
