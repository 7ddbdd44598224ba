/** The line of the head commit, above the objects that it has. */

import { links } from '../../links';
import { Icon } from '../../parts/icon';
import { Time } from '../../parts/time';
import { shortId, titleOf, visible } from '../../parts/words';
import type { Commit } from './last-commits';
import styles from './listing.module.css';

export function HeadCommit({ repository, commit }: { repository: string; commit: Commit }) {
  const href = links.commit(repository, commit.id);
  return (
    <p class={`small quiet ${styles.head}`}>
      <Icon name="commit" label="Last commit" />
      <a class={`cut ${styles.message}`} href={href} title={visible(commit.message)}>
        {titleOf(commit)}
      </a>
      <span class={`cut ${styles.committer}`}>{commit.committer}</span>
      <span class={styles.when}>
        <Time at={commit.creation_date} />
      </span>
      <a class="mono wide-only" href={href}>
        {shortId(commit.id)}
      </a>
    </p>
  );
}
