/** The server's lists of users, groups and policies. */

import { apiRead } from '../../api/cache';
import { PAGE } from './names';

export function readRepositories(prefix: string) {
  return apiRead('/repositories', { query: { prefix, amount: PAGE } });
}

export function readUsers(prefix: string, after: string) {
  return apiRead('/auth/users', { query: { prefix, after, amount: PAGE } });
}

export function readGroups(prefix: string, after: string) {
  return apiRead('/auth/groups', { query: { prefix, after, amount: PAGE } });
}

export function readPolicies(prefix: string, after: string) {
  return apiRead('/auth/policies', { query: { prefix, after, amount: PAGE } });
}
