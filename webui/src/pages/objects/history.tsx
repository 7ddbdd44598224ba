/** The commits that changed an object, or anything in a folder. */

import { useLocation } from 'preact-iso';
import { apiRead } from '../../api/cache';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { LinkButton } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId } from '../../parts/words';
import { Crumbs } from './crumbs';
import { ObjectNav } from './nav';
import './styles.css';

const SHOWN = 30;

export default function ObjectHistory() {
  const repository = useRepository().id;
  const { query, route } = useLocation();
  const ref = useCurrentRef();
  const path = query.path ?? '';
  const isFolder = !path || path.endsWith('/');
  useTitle(`History of ${path || 'all objects'}`, repository);
  const pages = usePages(after => {
    const changed = path ? (isFolder ? { prefixes: [path] } : { objects: [path] }) : {};
    const query = { after, amount: SHOWN, ...changed };
    return apiRead('/repositories/{repository}/refs/{ref}/commits', {
      path: { repository, ref },
      query,
    });
  });
  const here = isFolder ? links.objects : links.object;
  return (
    <div class="stack">
      <h1 class="visually-hidden">History of {path || 'all objects'}</h1>
      <RefPicker
        repository={repository}
        value={ref}
        label="History of"
        onChoose={chosen => route(links.history(repository, chosen, path))}
      />
      <Crumbs repository={repository} at={ref} path={path} />
      <ObjectNav place={{ repository, ref, path }} here="history" />
      {pages.isLoading && (
        <p class="small quiet" role="status">
          Searching the commits of {shortId(ref)}. A long history takes a while…
        </p>
      )}
      <PagedList
        pages={pages}
        label="Commits"
        keyOf={commit => commit.id}
        row={commit => (
          <>
            <Icon name="commit" />
            <div class="grow">
              <a class="strong" href={links.commit(repository, commit.id)}>
                {commit.message.split('\n')[0] || shortId(commit.id)}
              </a>
              <div class="small quiet">
                {commit.committer}, <Time at={commit.creation_date} />,{' '}
                <span class="mono">{shortId(commit.id)}</span>
              </div>
            </div>
            <LinkButton isSmall href={here(repository, commit.id, path)}>
              View at this commit
            </LinkButton>
          </>
        )}
        empty={
          <Empty icon="history" title="No commit has changed this yet">
            What is uncommitted appears here after its commit.
          </Empty>
        }
      />
    </div>
  );
}
