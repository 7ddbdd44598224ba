/** What was committed, and where to go on from it. */

import { links } from '../../links';
import { LinkButton } from '../../parts/button';
import { useRepository } from '../../parts/repository';
import { Notice } from '../../parts/state';
import { shortId } from '../../parts/words';

export function Committed({ branch, commit }: { branch: string; commit: string }) {
  const { id: repository, default_branch: main } = useRepository();
  return (
    <div role="status">
      <Notice kind="success">
        <div class="bar">
          <span class="grow">
            Commit{' '}
            <a class="mono" href={links.commit(repository, commit)}>
              {shortId(commit)}
            </a>{' '}
            was made on {branch}.
          </span>
          {branch !== main && (
            <>
              <LinkButton isSmall icon="compare" href={links.compare(repository, main, branch)}>
                Compare with {main}
              </LinkButton>
              <LinkButton isSmall icon="pull" href={links.newPull(repository, branch, main)}>
                Open a pull request
              </LinkButton>
            </>
          )}
        </div>
      </Notice>
    </div>
  );
}
