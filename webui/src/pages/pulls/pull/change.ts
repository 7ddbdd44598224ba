import { answer, api, type Schemas } from '../../../api/client';

/** Change these fields of the pull request; the others stay. */
export async function changePull(
  repository: string,
  pull: string,
  changes: Partial<Schemas['PullRequestUpdate']>,
): Promise<void> {
  const params = { path: { repository, pull_request: pull } };
  // What is null stays.
  const body = { title: null, description: null, status: null, reviewers: null, ...changes };
  await answer(api.PATCH('/repositories/{repository}/pulls/{pull_request}', { params, body }));
}
