/** The head commit of a ref, and the last commit that changed each entry of a directory in it. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { answerOf, apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import type { ObjectStats } from '../../api/objects';
import { type Page, usePages, useResource } from '../../api/resource';

export type Commit = Schemas['CommitRow'];
type Row = Schemas['LastCommitRow'];

const PAGE = 64;
// An answer takes two seconds at most. What a long history has not given by then stays unsaid.
const REQUESTS_MAX = 10;
const NOTHING: Page<Row> = { results: [], pagination: { has_more: false, next_offset: '' } };

export interface LastCommits {
  head: Commit | undefined;
  /** By the paths of the entries; those of the rows in view come first. */
  byPath: ReadonlyMap<string, Commit>;
  /** Tell the last row in view. */
  onLast: (index: number) => void;
}

/**
 * Return the commits of what is shown, which arrive after it.
 *
 * They are those of the head that the page has seen. Its ID makes them answers that never change.
 */
export function useLastCommits(
  repository: string,
  ref: string,
  prefix: string,
  items: readonly ObjectStats[],
): LastCommits {
  const path = { repository, commitId: ref };
  const { data: head } = useResource(
    apiRead('/repositories/{repository}/commits/{commitId}', { path }),
  );
  const at = items.length ? head?.id : undefined;
  const pages = usePages<Row>(['last commits', repository, at, prefix], (after, signal) =>
    at
      ? answerOf(
          apiRead('/repositories/{repository}/refs/{ref}/objects/last_commits', {
            path: { repository, ref: at },
            query: { prefix, after, amount: PAGE },
          }),
          signal,
        )
      : Promise.resolve(NOTHING),
  );
  const byPath = useMemo(
    () => new Map(pages.items.map(({ path, commit }) => [path, commit])),
    [pages.items],
  );
  const [last, setLast] = useState(0);
  const requests = useRef(0);
  const isMissing = items.slice(0, last + 1).some(({ path }) => !byPath.has(path));
  useEffect(() => {
    if (!isMissing || !pages.hasMore || pages.isLoading || pages.failure) return;
    requests.current += 1;
    if (requests.current < REQUESTS_MAX + last / PAGE) pages.more();
  }, [isMissing, pages.hasMore, pages.isLoading, pages.failure, pages.items, last]);
  return { head, byPath, onLast: setLast };
}
