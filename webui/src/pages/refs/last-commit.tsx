/** The last commit of a branch or tag, and how far it is from the default branch. */

import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Time } from '../../parts/time';
import { readCommit, readDistance } from './commits';

export function LastCommit({ repository, id }: { repository: string; id: string }) {
  const { data, failure } = useResource(readCommit(repository, id));
  if (failure)
    return (
      <span class="ref-commit small quiet cut" title={failure.message}>
        Its commit did not load
      </span>
    );
  if (!data) return <span class="ref-commit" />;
  const message = data.message.split('\n')[0] || 'No message';
  return (
    <span class="ref-commit small quiet">
      <a class="cut grow" href={links.commit(repository, id)} title={message}>
        {message}
      </a>
      <span class="cut ref-committer">{data.committer}</span>
      <span class="ref-time">
        <Time at={data.creation_date} />
      </span>
    </span>
  );
}

interface DistanceProps {
  repository: string;
  commit: string;
  /** The head of the default branch. */
  from: string;
  name: string;
}

export function DistanceBadge({ repository, commit, from, name }: DistanceProps) {
  const { data, failure } = useResource(readDistance(repository, commit, from));
  if (failure)
    return (
      <span class="badge amber" title={failure.message}>
        Not counted
      </span>
    );
  if (!data) return null;
  const more = data.isPart ? '+' : '';
  if (!data.ahead && !data.behind)
    return (
      <span class="badge" title={`Its head is that of ${name}`}>
        Same<span class="wide-only"> as {name}</span>
      </span>
    );
  const words = `${data.ahead}${more} ahead of ${name}, ${data.behind}${more} behind`;
  return (
    <span class="badge" title={words}>
      <span aria-hidden="true">
        ↑{data.ahead}
        {more} ↓{data.behind}
        {more}
      </span>
      <span class="visually-hidden">{words}</span>
    </span>
  );
}
