/** All tags: find, create, browse, compare, delete. */

import { useState } from 'preact/hooks';
import { apiRead } from '../../api/cache';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { VirtualList } from '../../parts/list';
import { Menu } from '../../parts/menu';
import { useQuery } from '../../parts/query';
import { useRepository } from '../../parts/repository';
import { SearchBox } from '../../parts/search-box';
import { useSettled } from '../../parts/settled';
import { Empty } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { visible } from '../../parts/words';
import { CreateRef } from './create';
import { DeleteRefs } from './delete';
import { TaggedCommit } from './last-commit';

const PAGE = 1000;

export default function Tags() {
  const { id: repository, default_branch, read_only } = useRepository();
  useTitle('Tags', repository);
  const [{ prefix = '' }, setQuery] = useQuery();
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<string>();
  const found = useSettled(prefix);
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/tags', {
      path: { repository },
      query: { prefix: found, after, amount: PAGE },
    }),
  );
  const find = (text: string) => setQuery({ prefix: text }, true);
  const create = (
    <Button
      kind="primary"
      icon="plus"
      disabled={read_only}
      title={read_only ? 'The repository is read-only' : undefined}
      onClick={() => setCreating(true)}
    >
      Create tag
    </Button>
  );
  const isFresh = !prefix && !pages.isLoading && !pages.failure && !pages.items.length;
  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>Tags</h1>
          <p>Each is a name of one commit, and stays with it.</p>
        </div>
        {!isFresh && create}
      </div>
      <div class="stack">
        {!isFresh && (
          <SearchBox
            label="Find tags by the beginning of their names"
            placeholder="Name begins with"
            value={prefix}
            onText={find}
          />
        )}
        <VirtualList
          pages={pages}
          label="Tags"
          keyOf={tag => tag.id}
          row={tag => (
            <>
              <Icon name="tag" />
              <a
                class="strong cut grow"
                href={links.objects(repository, tag.id)}
                title={visible(tag.id)}
              >
                {visible(tag.id)}
              </a>
              <TaggedCommit repository={repository} id={tag.commit_id} />
              <TagMenu name={tag.id} onDelete={() => setDeleting(tag.id)} />
            </>
          )}
          empty={
            prefix ? (
              <Empty
                icon="search"
                title={`No tag’s name begins with “${prefix}”`}
                actions={<Button onClick={() => find('')}>Show all</Button>}
              />
            ) : (
              <Empty icon="tag" title="Name a commit with a tag" actions={create}>
                A model or a report that names its tag can always read the same data again.
              </Empty>
            )
          }
        />
      </div>
      {isCreating && (
        <CreateRef
          kind="tag"
          {...{ repository, source: default_branch }}
          onCreated={pages.reload}
          onClose={() => setCreating(false)}
        />
      )}
      {deleting !== undefined && (
        <DeleteRefs
          kind="tag"
          {...{ repository, names: [deleting] }}
          onDeleted={pages.reload}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}

function TagMenu({ name, onDelete }: { name: string; onDelete: () => void }) {
  const { id: repository, default_branch, read_only } = useRepository();
  return (
    <Menu label={`Actions of ${name}`} isSmall>
      <a href={links.objects(repository, name)}>
        <Icon name="folder" /> Browse
      </a>
      <a href={links.commits(repository, name)}>
        <Icon name="commit" /> Commits
      </a>
      <a href={links.compare(repository, default_branch, name)}>
        <Icon name="compare" /> Compare to {default_branch}
      </a>
      <hr />
      <button type="button" class="danger" disabled={read_only} onClick={onDelete}>
        <Icon name="trash" /> Delete
      </button>
    </Menu>
  );
}
