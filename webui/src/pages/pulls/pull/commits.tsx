/** The commits that the merge of a pull request brings, or brought. */

import { apiRead } from '../../../api/cache';
import { usePages } from '../../../api/resource';
import { links } from '../../../links';
import { PagedList } from '../../../parts/list';
import { useRepository } from '../../../parts/repository';
import { Notice } from '../../../parts/state';
import { Time } from '../../../parts/time';
import { titleOf } from '../../../parts/words';

const PAGE = 100;

interface CommitsProps {
  /** The ref with the commits, and the one that lacks them. */
  source: string;
  destination: string;
}

export function Commits({ source, destination }: CommitsProps) {
  const { id: repository } = useRepository();
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/refs/{ref}/commits', {
      path: { repository, ref: source },
      query: { after, amount: PAGE, not_in: destination },
    }),
  );
  return (
    <PagedList
      pages={pages}
      label="Commits"
      keyOf={commit => commit.id}
      row={({ id, message, committer, creation_date }) => (
        <>
          <a class="grow wrap-anywhere" href={links.commit(repository, id)}>
            {titleOf({ message })}
          </a>
          <span class="small quiet">
            {committer}, <Time at={creation_date} />
          </span>
          <a class="mono wide-only" href={links.commit(repository, id)}>
            {id.slice(0, 8)}
          </a>
        </>
      )}
      empty={<Notice>There is no commit to merge.</Notice>}
    />
  );
}
