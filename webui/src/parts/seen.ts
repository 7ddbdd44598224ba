/** Keeps a merge to what its user has seen: commits that came later are shown before they are merged. */

import { Failure } from '../api/client';
import { commitOf } from '../api/objects';
import { useResource } from '../api/resource';
import { shortId } from './words';

class HasMoved extends Failure {
  constructor(ref: string) {
    super(`${shortId(ref)} has new commits since its changes were shown. Look at them first.`, 0);
  }
}

/** Return a check that the ref still is what it was when this version of its changes was loaded. */
export function useSeen(repository: string, ref: string, version: number): () => Promise<void> {
  const { data: seen } = useResource(['seen', repository, ref, version], async () =>
    ref ? commitOf(repository, ref) : undefined,
  );
  return async () => {
    if (seen && (await commitOf(repository, ref)) !== seen) throw new HasMoved(ref);
  };
}

export function isMoved(failure: Failure | undefined): boolean {
  return failure instanceof HasMoved;
}
