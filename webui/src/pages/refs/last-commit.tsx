/** The commit that a branch or tag names: its message, its committer and when it was made. */

import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Time } from '../../parts/time';
import { shortId } from '../../parts/words';

/** Loads the commit once for as long as the page is shown; a commit never changes. */
export function LastCommit({ repository, id }: { repository: string; id: string }) {
  const { data } = useResource(['commit', repository, id], signal =>
    answer(
      api.GET('/repositories/{repository}/commits/{commitId}', {
        params: { path: { repository, commitId: id } },
        signal,
      }),
    ),
  );
  return (
    <div class="small quiet cut">
      <a class="mono" href={links.commit(repository, id)}>
        {shortId(id)}
      </a>{' '}
      {data && (
        <>
          <Time at={data.creation_date} /> by {data.committer || 'nobody'}:{' '}
          <span title={data.message}>{data.message.split('\n')[0] || 'no message'}</span>
        </>
      )}
    </div>
  );
}
