/** Opens a pull request, after showing how much it would change. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client';
import { useAction, useResource } from '../../api/resource';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { countRows, refsSource } from '../../parts/diff/source';
import { AreaField, TextField } from '../../parts/field';
import { handleSubmit } from '../../parts/form';
import { RefPicker } from '../../parts/ref-picker';
import { useRepository } from '../../parts/repository';
import { Notice, Problem } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';
import { AddReviewer, requireUser } from './add-reviewer';

export default function CreatePull() {
  const { id: repository, default_branch, read_only } = useRepository();
  useTitle('Create pull request', repository);
  const { query, route } = useLocation();
  const { source = '', destination = default_branch } = query;
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [reviewers, setReviewers] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState('');
  const ask = useAction(async (name: string) => {
    await requireUser(name);
    setReviewers([...new Set([...reviewers, name])]);
    setTyped('');
  });
  const { run, isBusy, failure } = useAction(async () => {
    ask.clear();
    // A name that is typed is meant, also without a press of "Ask".
    const last = typed.trim();
    if (last) await requireUser(last);
    const body = {
      title,
      description,
      source_branch: source,
      destination_branch: destination,
      reviewers: [...new Set([...reviewers, ...(last ? [last] : [])])],
    };
    const params = { path: { repository } };
    const { id } = await answer(api.POST('/repositories/{repository}/pulls', { params, body }));
    tell('The pull request was created.');
    route(links.pull(repository, id));
  });
  const choose = (from: string, into: string) => route(links.newPull(repository, from, into), true);
  const isReady = Boolean(source) && source !== destination;
  const changes = useChanges(isReady ? { repository, source, destination } : undefined);
  const hasNothing = changes.data?.results.length === 0;
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>Create pull request</h1>
        </div>
      </div>
      <form class="form page" onSubmit={handleSubmit(() => isReady && run())}>
        <div class="bar">
          <span class="quiet">Merge</span>
          <RefPicker
            {...{ repository, value: source, label: 'Source branch', kinds: ['branch'] }}
            onChoose={ref => choose(ref, destination)}
          />
          <span class="quiet">into</span>
          <RefPicker
            {...{ repository, value: destination, label: 'Destination branch', kinds: ['branch'] }}
            onChoose={ref => choose(source, ref)}
          />
        </div>
        {source && source === destination && (
          <Notice kind="warning">Choose two different branches.</Notice>
        )}
        {!source && <Notice>Choose the branch whose commits are to be merged.</Notice>}
        {isReady && <Preview {...{ repository, source, destination, changes }} />}
        <TextField label="Title" value={title} onText={setTitle} required maxLength={200} />
        <AreaField
          label="Description"
          hint="Markdown: what changes, and why."
          value={description}
          onText={setDescription}
        />
        <AddReviewer name={typed} onName={setTyped} isBusy={ask.isBusy} onAdd={ask.run} />
        <Problem failure={ask.failure} />
        {reviewers.length > 0 && (
          <ul class="bar" aria-label="Reviewers">
            {reviewers.map(name => (
              <li key={name}>
                {name}
                <Button
                  isSmall
                  kind="ghost"
                  icon="close"
                  label={`Do not ask ${name}`}
                  onClick={() => setReviewers(reviewers.filter(each => each !== name))}
                />
              </li>
            ))}
          </ul>
        )}
        <Problem failure={failure} />
        <div class="actions">
          <LinkButton href={links.pulls(repository)}>Cancel</LinkButton>
          <Button
            kind="primary"
            type="submit"
            isBusy={isBusy}
            disabled={!isReady || hasNothing || read_only}
            title={read_only ? 'The repository is read-only' : undefined}
          >
            Create pull request
          </Button>
        </div>
      </form>
    </>
  );
}

interface Branches {
  repository: string;
  source: string;
  destination: string;
}

/** Load the first page of what the merge would change. */
function useChanges(branches: Branches | undefined) {
  const { repository = '', source = '', destination = '' } = branches ?? {};
  const changes = refsSource(repository, destination, source, 'three_dot');
  return useResource([changes.name, branches], async signal =>
    branches ? changes.load({ prefix: '', after: '' }, signal) : undefined,
  );
}

interface PreviewProps extends Branches {
  changes: ReturnType<typeof useChanges>;
}

/** Tells how many objects the merge would change, as far as the first page of the diff has them. */
function Preview({ repository, source, destination, changes }: PreviewProps) {
  const { data, failure, reload } = changes;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <p class="quiet">Counting the changes…</p>;
  const { results, pagination } = data;
  if (!results.length)
    return <Notice kind="warning">There is nothing to merge: no object differs.</Notice>;
  const conflicts = countRows(results).conflict;
  const more = pagination.has_more ? 'More than ' : '';
  return (
    <Notice kind={conflicts ? 'warning' : 'info'}>
      {more}
      {countText(results.length, 'object')} would change.{' '}
      {conflicts > 0 &&
        `${countText(conflicts, 'conflict')}: ${destination} has changed the same objects. `}
      <a href={links.compare(repository, destination, source)}>See the changes</a>
    </Notice>
  );
}
