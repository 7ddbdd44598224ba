import assert from 'node:assert/strict';
import { test } from 'node:test';
import { links, repositoryOf, safeNext } from '../src/links';

test('what is not given is not in the address', () => {
  assert.equal(links.objects('lake'), '/repositories/lake/objects');
  assert.equal(links.objects('lake', 'main', ''), '/repositories/lake/objects?ref=main');
  assert.equal(links.compare('lake', undefined, 'dev'), '/repositories/lake/compare?compare=dev');
  assert.equal(links.settings('lake'), '/repositories/lake/settings/general');
});

test('names and paths of any letters come back from the address', () => {
  const path = 'a b/ü&x=1#?.csv';
  const url = new URL(links.object('lake', 'feature/x~2', path), 'http://lake.test');
  assert.equal(url.pathname, '/repositories/lake/object');
  assert.deepEqual(Object.fromEntries(url.searchParams), { ref: 'feature/x~2', path });
  assert.equal(links.user('ann/lee?'), '/auth/users/ann%2Flee%3F');
  assert.equal(links.commit('a/b', 'c/d'), '/repositories/a%2Fb/commits/c%2Fd');
});

test('the log-in leads on to a path of this page', () => {
  const next = '/repositories/lake/objects?ref=main&path=a%2F';
  assert.equal(safeNext(next), next);
  assert.equal(new URLSearchParams(links.logIn(next).split('?')[1]).get('next'), next);
});

test('the log-in leads to no other site, nor to itself', () => {
  for (const next of [
    undefined,
    '',
    'repositories',
    'https://evil.test/',
    'javascript:alert(1)',
    '//evil.test',
    '/\\evil.test',
    '\\/evil.test',
    '//[',
    '/\t/evil.test',
    '/\n/evil.test/',
    '/auth/login?next=%2Fauth%2Flogin',
  ])
    assert.equal(safeNext(next), '/repositories', next);
});

test('the repository of a page is in its path', () => {
  assert.equal(repositoryOf(links.objects('lake', 'main').split('?')[0] ?? ''), 'lake');
  assert.equal(repositoryOf(links.repositories()), '');
  assert.equal(repositoryOf(links.users()), '');
  assert.equal(repositoryOf('/repositories/%/objects'), '');
});
