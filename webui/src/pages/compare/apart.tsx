/** How many commits two refs are apart, counted from their merge base. */

import { useResource } from '../../api/resource';
import { links } from '../../links';
import { readDistance } from '../../parts/distance';
import { Problem } from '../../parts/state';
import { countText, shortId } from '../../parts/words';

interface ApartProps {
  repository: string;
  destination: string;
  source: string;
}

export function Apart({ repository, destination, source }: ApartProps) {
  const { data, failure, reload } = useResource(readDistance(repository, source, destination));
  // The diff below tells of a ref that does not exist.
  if (failure?.status === 404) return null;
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <p class="small quiet">Counting commits…</p>;
  const text = (commits = 0) =>
    `${data.is_exact ? '' : 'at least '}${countText(commits, 'commit')}`;
  return (
    <p class="small quiet">
      <strong>{shortId(source)}</strong> is {text(data.ahead)} ahead of{' '}
      <strong>{shortId(destination)}</strong>, and {text(data.behind)} behind. Their common commit
      is{' '}
      <a class="mono" href={links.commit(repository, data.base_commit_id)}>
        {data.base_commit_id.slice(0, 8)}
      </a>
      .
    </p>
  );
}
