/** The repository whose page is shown; the frame of its pages loads it. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Schemas } from '../api/client';

export type Repository = Schemas['RepositoryRow'];

export const Current = createContext<Repository | undefined>(undefined);

/** Return the repository of the page; only for components inside the frame. */
export function useRepository(): Repository {
  const repository = useContext(Current);
  if (!repository) throw new Error('useRepository is for pages of a repository');
  return repository;
}

/** Return the ref in the address; without one, the repository's default branch. */
export function useCurrentRef(): string {
  const { default_branch } = useRepository();
  return useLocation().query.ref || default_branch;
}
