/** Keeps a merge to what its user has seen: commits that came later are shown before they are merged. */

import { Failure } from '../api/client';
import { commitOf } from '../api/objects';
import { useResource } from '../api/resource';
import { shortId } from './words';

class HasMoved extends Failure {
  constructor(told: string) {
    super(told, 0);
  }
}

interface Seen {
  /** Whether the ref's commit was asked for. Changes that are loaded after it are those of no older one. */
  isAsked: boolean;
  /** Fails unless the ref still is what it was then. */
  check: () => Promise<void>;
}

/** Ask for the commit of the ref, before this version of its changes is loaded. */
export function useSeen(repository: string, ref: string, version: number): Seen {
  const { data: seen, isLoading } = useResource(['seen', repository, ref, version], async signal =>
    ref ? commitOf(repository, ref, signal) : undefined,
  );
  const check = async () => {
    const name = shortId(ref);
    if (!seen)
      throw new HasMoved(`It is unknown which commit of ${name} was shown. Look at it again.`);
    if ((await commitOf(repository, ref)) !== seen)
      throw new HasMoved(
        `${name} has new commits since its changes were shown. Look at them first.`,
      );
  };
  return { isAsked: !ref || !isLoading, check };
}

export function isMoved(failure: Failure | undefined): boolean {
  return failure instanceof HasMoved;
}
