/** What a restore would change on a branch, said before it does. */

import { answer, api, type Schemas } from '../../../api/client';
import {
  commitOf,
  find,
  hasData,
  type ObjectStats,
  PAGE,
  type Place,
  totalOf,
} from '../../../api/objects';
import { countRows } from '../../../parts/diff/source';
import { countText, isCommitId, momentText, shortId, sizeText } from '../../../parts/words';

/** A version of an object, or of a folder, whose path is empty or ends in a slash. */
export interface Version extends Place {
  /** The commit before: its version is meant where the ref has no object of the folder any more. */
  before?: string;
  /** Whether it is an object, whose path may end in a slash as well. */
  isObject?: boolean;
}

export interface Plan {
  /** Where the version is: in a commit. */
  from: Place;
  /** What the restore does. */
  effect: string;
  /** What it takes away that is in no commit. */
  loss?: string;
  /** Why there is nothing to restore. */
  problem?: string;
  /** The object that it replaces. */
  now?: ObjectStats;
  /** Whether it only undoes an uncommitted change: the last commit has this version. */
  isUndo?: boolean;
}

export function isFolderPath(path: string): boolean {
  return !path || path.endsWith('/');
}

export function isFolder({ path, isObject }: Version): boolean {
  return !isObject && isFolderPath(path);
}

type Commit = Pick<Schemas['CommitRow'], 'id' | 'parents'>;

/** Return the version that a commit left; the last one before it if it removed the object. */
export function versionOf(
  repository: string,
  path: string,
  { id, parents: [before] }: Commit,
  change?: string,
): Version {
  const ref = change === 'removed' && before ? before : id;
  return { repository, ref, path, before, isObject: change !== undefined };
}

/** Return what a restore to the branch would do. */
export async function planOf(version: Version, branch: string, signal: AbortSignal): Promise<Plan> {
  const { repository, path, before } = version;
  const ref = isCommitId(version.ref)
    ? version.ref
    : await commitOf(repository, version.ref, signal);
  const from = { repository, ref, path };
  if (!isFolder(version))
    return { from, ...objectPlan(shortId(ref), branch, await objectsAt(from, branch, signal)) };
  const total = await totalOf(repository, ref, path, signal);
  if (!total.objects && before) return planOf({ repository, ref: before, path }, branch, signal);
  const folder = { objects: total.objects, ...(await foldersAt(from, branch, signal)) };
  return { from, ...folderPlan(shortId(ref), branch, folder) };
}

/** The version of an object that comes back, and what the branch has at its path. */
export interface ObjectVersions {
  version?: ObjectStats;
  hasData: boolean;
  now?: ObjectStats;
  /** What the branch's last commit has there. */
  committed?: ObjectStats;
  /** How the branch differs from that, if it does. */
  uncommitted?: string;
}

async function objectsAt(from: Place, branch: string, signal: AbortSignal) {
  const [version, isThere, now, committed, { results }] = await Promise.all([
    find(from, signal),
    hasData(from, signal),
    find({ ...from, ref: branch }, signal),
    find({ ...from, ref: `${branch}@` }, signal),
    uncommittedIn(from, branch, 1, signal),
  ]);
  const uncommitted = results[0]?.path === from.path ? results[0].type : undefined;
  return { version, hasData: isThere, now, committed, uncommitted };
}

/** Return whether a copy of one would be the other; its time would differ. */
function areSame(one: ObjectStats, other: ObjectStats): boolean {
  const [left, right] = [one, other].map(({ checksum, content_type, metadata }) =>
    JSON.stringify([checksum, content_type, Object.entries(metadata ?? {}).sort()]),
  );
  return left === right;
}

export function objectPlan(
  commit: string,
  branch: string,
  { version, hasData, now, committed, uncommitted }: ObjectVersions,
): Omit<Plan, 'from'> {
  if (!version) return { effect: '', problem: `Commit ${commit} does not have this object.` };
  if (!hasData)
    return {
      effect: '',
      problem: `The data of the version in commit ${commit} are deleted. Choose another version.`,
    };
  const given = `The version of commit ${commit} (${sizeText(version.size_bytes)})`;
  const isUndo = Boolean(uncommitted) && committed !== undefined && areSame(committed, version);
  let effect = `${given} comes back. ${branch} has no object at this path.`;
  if (now?.checksum === version.checksum)
    effect = `${branch} has the content of commit ${commit} already. Only time and metadata may change.`;
  else if (now)
    effect = `${given} replaces the one on ${branch} (${sizeText(now.size_bytes)}, stored ${momentText(now.mtime)}).`;
  effect += isUndo
    ? ` The last commit of ${branch} has this version, so no uncommitted change is left.`
    : ` It becomes an uncommitted change of ${branch}; no data are copied.`;
  const loss =
    uncommitted && uncommitted !== 'removed'
      ? `${branch} has an uncommitted change of this object. The restore replaces it, and no commit has it.`
      : undefined;
  return { effect, now, isUndo, loss };
}

/** How the objects of a folder on a branch differ from those that come back. */
export interface FolderVersions {
  objects: number;
  /** What the commit has that the branch's last commit has not; the first ones, if there are more. */
  differences: readonly Schemas['DiffRow'][];
  hasMore: boolean;
  uncommitted: number;
  hasMoreUncommitted: boolean;
}

async function foldersAt({ repository, ref, path }: Place, branch: string, signal: AbortSignal) {
  const params = {
    path: { repository, leftRef: branch, rightRef: ref },
    query: { prefix: path, amount: PAGE, type: 'two_dot' as const },
  };
  const [differences, changes] = await Promise.all([
    answer(
      api.GET('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', { params, signal }),
    ),
    uncommittedIn({ repository, path }, branch, PAGE, signal),
  ]);
  return {
    differences: differences.results,
    hasMore: differences.pagination.has_more,
    uncommitted: changes.results.length,
    hasMoreUncommitted: changes.pagination.has_more,
  };
}

export function folderPlan(
  commit: string,
  branch: string,
  { objects, differences, hasMore, uncommitted, hasMoreUncommitted }: FolderVersions,
): Omit<Plan, 'from'> {
  if (!objects) return { effect: '', problem: `Commit ${commit} has no objects here.` };
  const { added, changed, removed } = countRows(differences);
  const counts = [
    added && `${countText(added, 'object')} restored`,
    changed && `${countText(changed, 'object')} replaced`,
    removed &&
      `${countText(removed, 'object')} deleted, because the commit lacks ${removed === 1 ? 'it' : 'them'}`,
  ].filter(Boolean);
  const counted = counts.join('; ') || 'no committed object differs';
  const changes = countText(uncommitted, 'uncommitted change');
  const loss = `${branch} has ${hasMoreUncommitted ? 'more than ' : ''}${changes} here. The restore takes back those that differ from the commit, and no commit has them.`;
  return {
    effect: `Commit ${commit} has ${countText(objects, 'object')} here. On ${branch}${hasMore ? ', at least' : ''}: ${counted}. All of this stays uncommitted; no data are copied.`,
    loss: uncommitted ? loss : undefined,
  };
}

function uncommittedIn(
  { repository, path }: Omit<Place, 'ref'>,
  branch: string,
  amount: number,
  signal: AbortSignal,
) {
  const params = { path: { repository, branch }, query: { prefix: path, amount } };
  return answer(api.GET('/repositories/{repository}/branches/{branch}/diff', { params, signal }));
}
