/**
 * Keeps a change to what its user has seen: the server refuses it if others have changed that since.
 *
 * A merge or a move is about the commits that were shown, a setting about the version that was read.
 */

import { answer, api, Failure, type Result } from '../api/client';
import { useResource } from '../api/resource';
import { shortId } from './words';

class HasMoved extends Failure {
  constructor(message: string) {
    super(message, 412);
  }
}

export function isMoved(failure: Failure | undefined): boolean {
  return failure instanceof HasMoved;
}

/** The commits of two refs, at one moment. */
export interface Heads {
  source_commit_id: string;
  destination_commit_id: string;
}

interface Seen {
  /** Whether the commits were asked for. Changes that are loaded after it are those of no older ones. */
  isAsked: boolean;
  /** The commits; nothing while they are not known. */
  heads: Heads | undefined;
}

/** Ask for the commits of two refs, before this version of their changes is loaded. */
export function useSeen(
  repository: string,
  source: string,
  destination: string,
  version: number,
): Seen {
  const path = { repository, sourceRef: source, destinationBranch: destination };
  const key = ['seen', repository, source, destination, version];
  const { data, isLoading } = useResource(key, async signal =>
    source
      ? answer(
          api.GET('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
            params: { path },
            signal,
          }),
        )
      : undefined,
  );
  return { isAsked: !source || !isLoading, heads: data };
}

/** The header of a change that requires this head of a branch. */
export function onlyAt(commit: string | undefined) {
  if (!commit) throw new HasMoved('It is unknown which commits were shown. Look at them again.');
  return { 'If-Match': `"${commit}"` };
}

// A hook refuses with this status as well, in other words.
const OTHER_COMMIT = /'(.+)' is now (?:commit )?[0-9a-f]{64}: look at it/;

/** Do the change; if a ref has another commit than was required, fail with `HasMoved`. */
export async function ifUnmoved<Data>(change: Promise<Data>): Promise<Data> {
  try {
    return await change;
  } catch (error) {
    const moved = error instanceof Failure && OTHER_COMMIT.exec(error.message);
    if (!moved) throw error;
    throw new HasMoved(
      `${shortId(moved[1] ?? '')} has new commits since you looked, and nothing was changed.`,
    );
  }
}

/** A setting, and the name that the server gives to this version of it. */
export interface Versioned<Setting> {
  setting: Setting;
  version: string | undefined;
}

/** Return the setting as it is now; if it does not exist, `absent`, if that is given. */
export async function readSetting<Setting>(
  request: Promise<Result<Setting>>,
  absent?: Setting,
): Promise<Versioned<Setting>> {
  const { response } = await request.catch(() => ({ response: undefined }));
  const isAbsent = response?.status === 404 && absent !== undefined;
  const setting = isAbsent ? absent : await answer(request);
  return { setting, version: response?.headers.get('ETag') ?? undefined };
}

/** Do the change of a setting; if that is another one than was read, `reload` it and say so. */
export async function ifUnchanged<Data>(
  name: string,
  change: Promise<Data>,
  reload: () => void,
): Promise<Data> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof Failure && error.status === 412)) throw error;
    reload();
    const reason = `Somebody has changed ${name} meanwhile, so nothing was done.`;
    throw new Failure(`${reason} Look at what is there now, then do it again.`, 412);
  }
}
