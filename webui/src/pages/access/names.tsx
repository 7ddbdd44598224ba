/** Lists of users, groups and policies by name: found by their beginning, created, removed. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Read } from '../../api/cache';
import { type Page, useAction, usePages, useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { FormDialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { handleSubmit } from '../../parts/form';
import { Icon, type IconName } from '../../parts/icon';
import { PagedList } from '../../parts/list';
import { useQuery } from '../../parts/query';
import { SearchBox } from '../../parts/search-box';
import { useSettled } from '../../parts/settled';
import { Empty, Problem } from '../../parts/state';
import { SuggestField } from '../../parts/suggest-field';
import { tell } from '../../parts/toast';
import styles from './access.module.css';

export interface Named {
  id: string;
}

export const PAGE = 100;

interface NameListProps<Item extends Named> {
  title: string;
  about: string;
  icon: IconName;
  load: (prefix: string, after: string) => Read<Page<Item>>;
  hrefOf: (id: string) => string;
  note?: (item: Item) => ComponentChildren;
  action: ComponentChildren;
}

/** A page that lists everything of one kind; what is typed stays in the address. */
export function NameList<Item extends Named>(props: NameListProps<Item>) {
  const { title, about, icon, load, hrefOf, note, action } = props;
  const [{ prefix = '' }, setQuery] = useQuery();
  const found = useSettled(prefix);
  const pages = usePages(after => load(found, after));
  const find = (text: string) => setQuery({ prefix: text }, true);
  return (
    <div class="stack">
      <div class="page-head">
        <div class="titles">
          <h1>{title}</h1>
          <p>{about}</p>
        </div>
        {action}
      </div>
      <SearchBox
        label={`Find ${title.toLowerCase()} by the beginning of the name`}
        placeholder="Find by the beginning of the name"
        value={prefix}
        onText={find}
      />
      <PagedList
        pages={pages}
        label={title}
        keyOf={({ id }) => id}
        row={item => (
          <>
            <Icon name={icon} />
            <a class="strong grow wrap-anywhere" href={hrefOf(item.id)}>
              {item.id}
            </a>
            {note?.(item)}
          </>
        )}
        empty={
          <Empty
            icon="search"
            title={found ? `No name begins with “${found}”` : `No ${title.toLowerCase()} yet`}
            actions={found ? <Button onClick={() => find('')}>Show all</Button> : undefined}
          />
        }
      />
    </div>
  );
}

interface CreateProps {
  title: string;
  create: (id: string) => Promise<void>;
  onClose: () => void;
  hint?: string;
}

/** The dialog that asks for the name of something new. */
export function CreateNamed({ title, create, onClose, hint }: CreateProps) {
  const [id, setId] = useState('');
  const submit = useAction(() => create(id.trim()));
  return (
    <FormDialog {...{ title, submit, onClose }} action={title} isReady={Boolean(id.trim())}>
      <TextField label="Name" hint={hint} value={id} onText={setId} required autofocus />
    </FormDialog>
  );
}

interface AttachedProps {
  title: string;
  /** What one of them is called: "group". */
  noun: string;
  icon: IconName;
  /** What the names belong to; another owner has another list. */
  owner: string;
  load: (after: string) => Read<Page<Named>>;
  suggest: (prefix: string) => Read<Page<Named>>;
  hrefOf: (id: string) => string;
  add: (id: string) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  onChange?: () => void;
}

/** What is attached to a user or a group: added by name, removed with one press. */
export function Attached(props: AttachedProps) {
  const { title, noun, icon, owner, load, hrefOf, remove, onChange } = props;
  const pages = usePages(load);
  const changed = () => {
    pages.reload();
    onChange?.();
  };
  const removal = useAction(async (id: string) => {
    await remove(id);
    tell(`${id} was removed from ${owner}.`);
    changed();
  });
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <Problem failure={removal.failure} />
      <PagedList
        pages={pages}
        label={title}
        keyOf={({ id }) => id}
        row={({ id }) => (
          <>
            <Icon name={icon} />
            <a class="grow wrap-anywhere" href={hrefOf(id)}>
              {id}
            </a>
            <Button
              isSmall
              kind="ghost"
              icon="close"
              label={`Remove ${id}`}
              disabled={removal.isBusy}
              onClick={() => removal.run(id)}
            />
          </>
        )}
        empty={<p class="quiet">None yet. Add a {noun} by its name.</p>}
      />
      <AddNamed {...props} onAdded={changed} />
    </section>
  );
}

interface NameFieldProps {
  label: string;
  icon: IconName;
  value: string;
  onText: (text: string) => void;
  suggest: (prefix: string) => Read<Page<Named>>;
  hint?: string;
  problem?: string;
  disabled?: boolean;
}

/** A field for the name of something that exists; the server finds the names that begin so. */
export function NameField({ suggest, ...field }: NameFieldProps) {
  const { data } = useResource(suggest(useSettled(field.value)));
  return <SuggestField {...field} suggestions={data?.results.map(({ id }) => id)} />;
}

function AddNamed({
  noun,
  icon,
  owner,
  add,
  suggest,
  onAdded,
}: AttachedProps & { onAdded: () => void }) {
  const [id, setId] = useState('');
  const { run, isBusy, failure } = useAction(async () => {
    await add(id.trim());
    tell(`${id.trim()} was added to ${owner}.`);
    setId('');
    onAdded();
  });
  return (
    <form class="form" onSubmit={handleSubmit(run)}>
      <div class={`bar ${styles.named}`}>
        <NameField label={`Add a ${noun}`} value={id} onText={setId} {...{ icon, suggest }} />
        <Button type="submit" icon="plus" isBusy={isBusy}>
          Add
        </Button>
      </div>
      <Problem failure={failure} />
    </form>
  );
}
