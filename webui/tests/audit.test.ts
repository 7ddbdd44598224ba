import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AuditRecord,
  auditQuery,
  operationText,
  outcomeOf,
  thingsOf,
} from '../src/pages/access/audit-filters';

const EMPTY: AuditRecord = {
  id: '',
  time: '',
  user: '',
  source_ip: '',
  operation: '',
  path: '',
  request_id: '',
  resources: [],
};
const record = (operation: string, status_code?: number) =>
  outcomeOf({ ...EMPTY, operation, status_code });

test('a day of the address is the whole day, to its last second', () => {
  const { since, until } = auditQuery({ since: '2026-01-31', until: '2026-01-31' });
  assert.equal(Date.parse(until ?? '') - Date.parse(since ?? ''), 86_399_000);
});

test('what is no filter is left out', () => {
  const query = auditQuery({ since: 'yesterday', until: '', outcome: 'good', user: '', x: 'y' });
  assert.deepEqual(Object.values(query).filter(Boolean), []);
  assert.equal(auditQuery({ outcome: 'failed' }).outcome, 'failed');
});

test('an operation is told in words', () => {
  assert.equal(operationText('attachPolicyToUser'), 'Attach policy to user');
  assert.equal(operationText('setGCRules'), 'Set GC rules');
  assert.equal(operationText('login'), 'Login');
});

test('a failed log-in is marked as one, and other failures as refused or failed', () => {
  assert.equal(record('login', 401), 'Failed log-in');
  assert.equal(record('login', 200), 'Succeeded');
  assert.equal(record('deleteUser', 401), 'Refused');
  assert.equal(record('deleteUser', 404), 'Failed');
  assert.equal(record('deleteUser'), 'Outcome unknown');
});

test('what was changed is named, with what was attached to it', () => {
  const resources = ['arn:lakefs:auth:::user/bo'];
  const at = '/api/v1/auth/users/bo';
  assert.equal(thingsOf({ ...EMPTY, resources, path: at }), 'user/bo');
  assert.equal(thingsOf({ ...EMPTY, resources, path: `${at}/policies/A%20b` }), 'user/bo, A b');
  const policy = ['arn:lakefs:auth:::policy/p'];
  assert.equal(thingsOf({ ...EMPTY, resources: policy, path: '/auth/policies/p' }), 'policy/p');
  assert.equal(thingsOf({ ...EMPTY, path: '/api/v1/auth/login' }), '');
});
