import { isFolder, type ObjectStats, PAGE } from '../../api/objects';

/** Return the items, folders first. A list of several pages stays in its order: no row may move. */
export function foldersFirst(items: ObjectStats[], hasMore: boolean): ObjectStats[] {
  if (hasMore || items.length > PAGE) return items;
  return [...items].sort((one, other) => Number(isFolder(other)) - Number(isFolder(one)));
}
