/** The server's lists of users, groups and policies. */

import { answer, api } from '../../api/client';
import { PAGE } from './names';

export function listUsers(prefix: string, after: string, signal: AbortSignal) {
  const query = { prefix, after, amount: PAGE };
  return answer(api.GET('/auth/users', { params: { query }, signal }));
}

export function listGroups(prefix: string, after: string, signal: AbortSignal) {
  const query = { prefix, after, amount: PAGE };
  return answer(api.GET('/auth/groups', { params: { query }, signal }));
}

export function listPolicies(prefix: string, after: string, signal: AbortSignal) {
  const query = { prefix, after, amount: PAGE };
  return answer(api.GET('/auth/policies', { params: { query }, signal }));
}
