/** The keys of a repository's pages: `t` finds an object, `y` makes the address permanent. */

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { commitOf } from '../api/objects';
import { useQuery } from '../parts/query';
import { useCurrentRef, useRepository } from '../parts/repository';
import { tell } from '../parts/toast';
import { shortId } from '../parts/words';
import { useKey } from './keys';

interface FinderProps {
  repository: string;
  at: string;
  onClose: () => void;
}

// The pages whose address shows one ref, which may as well be a commit.
const OF_A_REF = /^\/repositories\/[^/]+(\/(objects?|history|tables?|commits|sql)?)?\/?$/;

export function RepositoryKeys() {
  const { id: repository } = useRepository();
  const at = useCurrentRef();
  const { path } = useLocation();
  const [, setQuery] = useQuery();
  // A function in a state must be wrapped, as Preact calls it.
  const [Finder, setFinder] = useState<ComponentType<FinderProps>>();
  useKey('t', async () => {
    const module = await import('../pages/objects/finder');
    setFinder(() => module.default);
  });
  useKey('y', async () => {
    if (!OF_A_REF.test(path)) return;
    try {
      const commit = await commitOf(repository, at);
      setQuery({ ref: commit }, true);
      tell(`The address names commit ${shortId(commit)} now, so it always shows the same.`);
    } catch (error) {
      tell(`The address stays. ${error instanceof Error ? error.message : ''}`);
    }
  });
  return Finder ? <Finder {...{ repository, at }} onClose={() => setFinder(undefined)} /> : null;
}
