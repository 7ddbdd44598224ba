/** All repositories: search, create. The first one comes with sample data. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { SearchBox } from '../../parts/search-box';
import { useSettled } from '../../parts/settled';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { CreateRepository } from './create';

const PAGE = 100;

export default function Repositories() {
  useTitle('Repositories');
  const [query, setQuery] = useQuery();
  const search = query.search ?? '';
  const [creating, setCreating] = useState<'empty' | 'sample'>();
  const found = useSettled(search);
  const pages = usePages(after =>
    apiRead('/repositories', { query: { search: found, after, amount: PAGE } }),
  );
  const isFresh = !search && !pages.isLoading && !pages.failure && !pages.items.length;
  const searchFor = (text: string) => setQuery({ search: text }, true);

  return (
    <main id="main" tabIndex={-1}>
      <div class="page-head">
        <div class="titles">
          <h1>Repositories</h1>
          <p>Each holds the objects of one project with all their versions.</p>
        </div>
        {!isFresh && (
          <Button kind="primary" icon="plus" onClick={() => setCreating('empty')}>
            Create repository
          </Button>
        )}
      </div>
      <div class="stack">
        {!isFresh && (
          <SearchBox
            label="Find repositories by name"
            placeholder="Find by name"
            value={search}
            onText={searchFor}
          />
        )}
        <PagedList
          pages={pages}
          label="Repositories"
          keyOf={repository => repository.id}
          row={repository => <RepositoryRow repository={repository} />}
          empty={
            found ? (
              <Empty
                icon="search"
                title={`No repository’s name contains “${found}”`}
                actions={<Button onClick={() => searchFor('')}>Show all</Button>}
              />
            ) : (
              <Empty
                icon="repository"
                title="Create your first repository"
                actions={
                  <>
                    <Button kind="primary" icon="plus" onClick={() => setCreating('sample')}>
                      Try with sample data
                    </Button>
                    <Button onClick={() => setCreating('empty')}>Create an empty one</Button>
                  </>
                }
              >
                With sample data you can browse, branch, change, compare and merge at once.
              </Empty>
            )
          }
        />
      </div>
      {creating && (
        <CreateRepository
          hasSampleData={creating === 'sample'}
          onClose={() => setCreating(undefined)}
        />
      )}
    </main>
  );
}

function RepositoryRow({ repository }: { repository: Schemas['RepositoryRow'] }) {
  return (
    <>
      <Icon name="repository" />
      <div class="grow">
        <a class="strong" href={links.objects(repository.id)}>
          {repository.id}
        </a>
        <div class="small quiet cut">{repository.storage_namespace}</div>
      </div>
      {repository.read_only && <span class="badge">Read-only</span>}
      <span class="badge wide-only">
        <Icon name="branch" />
        {repository.default_branch}
      </span>
      <span class="small quiet wide-only">
        Created <Time at={repository.creation_date} />
      </span>
    </>
  );
}
