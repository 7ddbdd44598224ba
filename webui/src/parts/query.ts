/** What the address's query holds, and a way to change parts of it. */

import { useLocation } from 'preact-iso';

type Query = Record<string, string>;
type SetQuery = (changes: Record<string, string | undefined>, isReplaced?: boolean) => void;

/** Return the query, and what sets some of its names; an empty value removes its name. */
export function useQuery(): [Query, SetQuery] {
  const { path, query, route } = useLocation();
  const set: SetQuery = (changes, isReplaced = false) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    const text = next.toString();
    route(text ? `${path}?${text}` : path, isReplaced);
  };
  return [query, set];
}
