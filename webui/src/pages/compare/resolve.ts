/**
 * Merges with a choice for each object in conflict.
 *
 * A branch of its own takes the source, then merges the destination and keeps the source's objects in
 * conflicts, then takes those of the destination that were chosen. All of this is about the two commits
 * whose conflicts the user saw. The branch contains the destination's one, so its merge has no
 * conflicts. Later commits of the destination are merged as usual, and refused if they conflict; later
 * commits of the source are left for the next merge.
 */

import { answer, api, Failure } from '../../api/client';
import { versionsOf } from '../../parts/diff/content';
import { tell } from '../../parts/toast';
import { shortId } from '../../parts/words';

export type Winner = 'source' | 'destination';

/** The side whose object wins, by path. */
export type Winners = Readonly<Record<string, Winner>>;

/** The commits whose conflicts the user saw. */
export interface Heads {
  source_commit_id: string;
  destination_commit_id: string;
}

interface Resolution {
  repository: string;
  heads: Heads;
  source: string;
  destination: string;
  winners: Winners;
  message: string;
  metadata: Record<string, string>;
  squash: boolean;
}

/** Return the ID of the merge's commit. */
export async function mergeResolved(resolution: Resolution): Promise<string> {
  const { repository, source, destination, heads } = resolution;
  const { source_commit_id, destination_commit_id } = heads;
  const branch = `resolve-${destination_commit_id.slice(0, 8)}-${Date.now().toString(36)}`;
  await answer(
    api.POST('/repositories/{repository}/branches', {
      params: { path: { repository } },
      body: { name: branch, source: source_commit_id, force: false, hidden: false },
      parseAs: 'text',
    }),
  );
  try {
    await merge(repository, destination_commit_id, branch, {
      message: `Merge ${destination} to resolve conflicts`,
      strategy: 'dest-wins',
    });
    await takeDestinations(resolution, branch, destination_commit_id);
    return await merge(repository, branch, destination, {
      message: resolution.message || `Merge '${shortId(source)}' into '${destination}'`,
      metadata: resolution.metadata,
      squash_merge: resolution.squash,
    });
  } catch (error) {
    if (!(error instanceof Failure && error.status === 409)) throw error;
    const message = `${destination} has changed since you chose. Look at the conflicts again.`;
    throw new Failure(message, error.status, error.details);
  } finally {
    // A branch that stays does no harm; the outcome of the merge is what counts.
    await answer(
      api.DELETE('/repositories/{repository}/branches/{branch}', {
        params: { path: { repository, branch } },
      }),
    ).catch(() => tell(`The branch ${branch} is no longer needed, but stays: delete it.`));
  }
}

interface Options {
  message: string;
  metadata?: Record<string, string>;
  strategy?: string;
  squash_merge?: boolean;
}

async function merge(
  repository: string,
  source: string,
  destination: string,
  { message, metadata = {}, strategy = '', squash_merge = false }: Options,
): Promise<string> {
  const { reference } = await answer(
    api.POST('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
      params: { path: { repository, sourceRef: source, destinationBranch: destination } },
      body: { message, metadata, strategy, squash_merge, allow_empty: true, force: false },
    }),
  );
  return reference;
}

/** Make the chosen objects on the branch what they are in the destination's commit, and commit them. */
async function takeDestinations(
  { repository, destination, winners }: Resolution,
  branch: string,
  commit: string,
): Promise<void> {
  const paths = Object.keys(winners).filter(path => winners[path] === 'destination');
  for (const path of paths) await take(repository, branch, commit, path);
  if (!paths.length) return;
  await answer(
    api.POST('/repositories/{repository}/branches/{branch}/commits', {
      params: { path: { repository, branch } },
      body: {
        message: `Keep objects of ${destination}`,
        metadata: {},
        allow_empty: true,
        force: false,
        date: null,
      },
    }),
  );
}

async function take(
  repository: string,
  branch: string,
  commit: string,
  path: string,
): Promise<void> {
  const sides = { left: commit, right: branch };
  const { left, right } = await versionsOf(repository, sides, path, new AbortController().signal);
  if (left.stats) {
    await answer(
      api.POST('/repositories/{repository}/branches/{branch}/objects/copy', {
        params: { path: { repository, branch }, query: { dest_path: path } },
        body: {
          src_path: path,
          src_ref: commit,
          src_repository: '',
          src_physical_address: '',
          content_type: null,
          user_metadata: null,
          headers: null,
          encryption: {},
          force: false,
          shallow: false,
        },
      }),
    );
  } else if (right.stats) {
    await answer(
      api.DELETE('/repositories/{repository}/branches/{branch}/objects', {
        params: { path: { repository, branch }, query: { path } },
      }),
    );
  }
}
