/** The last commit of a branch or tag, and how far it is from the default branch. */

import { apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { readDistance } from '../../parts/distance';
import { Time } from '../../parts/time';
import { titleOf } from '../../parts/words';
import styles from './last-commit.module.css';

/** The commit of a tag, which a listing does not have: a commit ID's answer is asked for once. */
export function TaggedCommit({ repository, id }: { repository: string; id: string }) {
  const { data, failure } = useResource(
    apiRead('/repositories/{repository}/commits/{commitId}', {
      path: { repository, commitId: id },
    }),
  );
  if (failure)
    return (
      <span class={`${styles.commit} small quiet cut`} title={failure.message}>
        Its commit did not load
      </span>
    );
  return <LastCommit repository={repository} commit={data} />;
}

interface CommitProps {
  repository: string;
  commit: Schemas['CommitRow'] | undefined;
}

export function LastCommit({ repository, commit }: CommitProps) {
  if (!commit) return <span class={styles.commit} />;
  const message = titleOf(commit);
  return (
    <span class={`${styles.commit} small quiet`}>
      <a class="cut grow" href={links.commit(repository, commit.id)} title={message}>
        {message}
      </a>
      <span class={`cut ${styles.committer}`}>{commit.committer}</span>
      <span class={styles.time}>
        <Time at={commit.creation_date} />
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
  const { ahead = 0, behind = 0, is_exact } = data;
  const more = is_exact ? '' : '+';
  const words = `${ahead}${more} ahead of ${name}, ${behind}${more} behind`;
  return (
    <span class="badge" title={words}>
      <span aria-hidden="true">
        ↑{ahead}
        {more} ↓{behind}
        {more}
      </span>
      <span class="visually-hidden">{words}</span>
    </span>
  );
}

/** Stands for the distance of a branch that has the same head. */
export function SameBadge({ name }: { name: string }) {
  return (
    <span class="badge" title={`Its head is that of ${name}`}>
      Same<span class="wide-only"> as {name}</span>
    </span>
  );
}
