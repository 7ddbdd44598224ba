/** The Iceberg tables of a ref, of all its namespaces. */

import { apiRead } from '../../api/cache';
import { PAGE } from '../../api/objects';
import { useAllPages, usePages } from '../../api/resource';
import { links } from '../../links';
import { Button, CopyButton } from '../../parts/button';
import { Docs } from '../../parts/docs';
import { TABLES_PREFIX, tableName } from '../../parts/iceberg-names';
import { Icon } from '../../parts/icon';
import { VirtualList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { SearchBox } from '../../parts/search-box';
import { Empty } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId, visible } from '../../parts/words';

export default function Tables() {
  const { id: repository } = useRepository();
  const ref = useCurrentRef();
  useTitle('Tables', repository);
  const [{ prefix = '' }, setQuery] = useQuery();
  const pages = usePages(after =>
    apiRead('/repositories/{repository}/refs/{ref}/objects/ls', {
      path: { repository, ref },
      query: { prefix: TABLES_PREFIX, after, amount: PAGE },
    }),
  );
  const named = pages.items.map(stats => ({ ...stats, name: tableName(stats.path) }));
  const items = named.filter(({ name }) => name !== '' && name.startsWith(prefix));
  // The properties of namespaces are listed as well: a page may have nothing to show.
  const isLookingOn = !items.length && pages.hasMore && !pages.failure;
  useAllPages(pages, Boolean(prefix) || isLookingOn);
  const find = (text: string) => setQuery({ prefix: text }, true);
  return (
    <div class="stack">
      <h1 class="visually-hidden">Tables at {visible(shortId(ref))}</h1>
      <div class="bar">
        <RefPicker
          {...{ repository }}
          value={ref}
          label="Tables at"
          onChoose={chosen => setQuery({ ref: chosen })}
        />
        <SearchBox
          label="Find tables by the beginning of their names"
          placeholder="Name begins with"
          value={prefix}
          onText={find}
        />
      </div>
      <VirtualList
        pages={{ ...pages, items, isLoading: pages.isLoading || isLookingOn }}
        label="Tables"
        keyOf={({ path }) => path}
        row={({ name, metadata, mtime }) => (
          <>
            <Icon name="layers" />
            <a
              class="strong cut grow"
              href={links.table(repository, ref, name)}
              title={visible(name)}
            >
              {visible(name)}
            </a>
            <span class="small quiet wide-only">
              {metadata?.['iceberg-snapshot-id']
                ? `Snapshot ${metadata['iceberg-snapshot-id']}`
                : 'No snapshot'}
            </span>
            <span class="small quiet number">
              <Time at={mtime} />
            </span>
          </>
        )}
        empty={
          prefix ? (
            <Empty
              icon="search"
              title={`No table’s name begins with “${visible(prefix)}”`}
              actions={<Button onClick={() => find('')}>Show all</Button>}
            />
          ) : (
            <FirstTable {...{ repository, at: ref }} />
          )
        }
      />
    </div>
  );
}

/** Teaches the first table: where its clients find the catalog. */
function FirstTable({ repository, at }: { repository: string; at: string }) {
  const place = encodeURIComponent(`${repository}.${at}`);
  const address = `${location.origin}/iceberg/relative_to/${place}/api`;
  return (
    <div class="stack">
      <Empty icon="layers" title={`There is no table at ${visible(shortId(at))} yet`}>
        A repository is a catalog of Apache Iceberg tables. PyIceberg, DuckDB and Spark create them
        at the address below, with an access key.
        <Docs page="guides/iceberg.md" />
      </Empty>
      <section class="card" aria-label="The address of the catalog">
        <div class="card-head">
          <code class="grow wrap-anywhere">{address}</code>
          <CopyButton text={address} label="Copy the address of the catalog" />
        </div>
      </section>
    </div>
  );
}
