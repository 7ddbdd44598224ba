/** One object or folder in the listing, with what can be done with it. */

import { commitOf, download, isFolder, lakeAddress, type ObjectStats } from '../../api/objects';
import { configuration } from '../../api/session';
import { links } from '../../links';
import { Icon, type IconName } from '../../parts/icon';
import { Menu } from '../../parts/menu';
import { RowCheck, type Selection } from '../../parts/selection';
import { firstRows, formatOf } from '../../parts/sql/names';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { sizeText, titleOf, visible } from '../../parts/words';
import type { Commit } from './last-commits';
import styles from './listing.module.css';

interface RowProps {
  item: ObjectStats;
  repository: string;
  at: string;
  directory: string;
  change: string | undefined;
  /** The last one that changed it, once it is known. */
  commit: Commit | undefined;
  selection: Selection;
  all: readonly string[];
  readOnly: string | undefined;
  onDelete: () => void;
  onMove: (isCopy: boolean) => void;
}

const CHANGES: Record<string, { sign: string; word: string; look: string }> = {
  added: { sign: '+', word: 'Added', look: 'green' },
  changed: { sign: '~', word: 'Changed', look: 'amber' },
  prefix_changed: { sign: '~', word: 'Changed inside', look: 'amber' },
  removed: { sign: '−', word: 'Removed', look: 'red' },
};

const ICONS: [RegExp, IconName][] = [
  [/\.(parquet|csv|tsv|jsonl|ndjson)$/i, 'table'],
  [/\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i, 'image'],
];

/** Return the icon of an object by the ending of its name. */
export function iconOf(path: string): IconName {
  return ICONS.find(([pattern]) => pattern.test(path))?.[1] ?? 'file';
}

export function ObjectRow({ item, repository, at, directory, change, commit, ...rest }: RowProps) {
  const isPrefix = isFolder(item);
  const href = isPrefix
    ? links.objects(repository, at, item.path)
    : links.object(repository, at, item.path);
  // A folder has no time of its own: it is as old as its last commit.
  const changed = isPrefix ? (!change && commit?.creation_date) || 0 : item.mtime;
  const told = change ? (CHANGES[change] ?? CHANGES.changed) : undefined;
  return (
    <>
      <RowCheck name={item.path} selection={rest.selection} all={rest.all} />
      <Icon name={isPrefix ? 'folder' : iconOf(item.path)} />
      <a class="grow cut" href={href} title={visible(item.path)}>
        {visible(item.path.slice(directory.length)) || '(the folder’s own object)'}
      </a>
      {told && (
        <span class={`badge ${told.look}`}>
          {told.sign}{' '}
          <span class="wide-only" aria-hidden="true">
            {told.word}
          </span>
          <span class="visually-hidden">{told.word}, not committed</span>
        </span>
      )}
      <span class={`small quiet number ${styles.size}`}>
        {isPrefix ? '' : sizeText(item.size_bytes)}
      </span>
      <span class={`small quiet ${styles.commit}`}>
        {told ? 'Uncommitted' : commit && <CommitLink {...{ repository, commit }} />}
      </span>
      <span class={`small quiet wide-only ${styles.time}`}>
        {changed > 0 && <Time at={changed} />}
      </span>
      <RowMenu {...{ item, repository, at, href }} isFolder={isPrefix} {...rest} />
    </>
  );
}

function CommitLink({ repository, commit }: { repository: string; commit: Commit }) {
  return (
    <a class="cut" href={links.commit(repository, commit.id)} title={visible(commit.message)}>
      {titleOf(commit)}
    </a>
  );
}

type RowMenuProps = Pick<
  RowProps,
  'item' | 'repository' | 'at' | 'readOnly' | 'onDelete' | 'onMove'
> & {
  isFolder: boolean;
  href: string;
};

function RowMenu({ item, repository, at, isFolder, href, readOnly, ...does }: RowMenuProps) {
  const place = { repository, ref: at, path: item.path };
  const isPresigned = configuration.value?.storage_config.pre_sign_support_ui ?? false;
  return (
    <Menu label={`Actions for ${item.path}`} isSmall>
      {!isFolder && (
        <button type="button" onClick={() => download(place, isPresigned)}>
          <Icon name="download" />
          Download
        </button>
      )}
      <button type="button" onClick={() => copy(lakeAddress(place), 'The address')}>
        <Icon name="copy" />
        Copy lakefs:// address
      </button>
      <button type="button" onClick={() => copy(new URL(href, location.href).href, 'The link')}>
        <Icon name="link" />
        Copy link
      </button>
      <button type="button" onClick={() => copyPermanent(repository, at, item.path, isFolder)}>
        <Icon name="lock" />
        Copy permanent link
      </button>
      {(isFolder || formatOf(item.path)) && (
        <a href={links.sql(repository, at, firstRows(item.path))}>
          <Icon name="table" />
          Query
        </a>
      )}
      <a href={links.history(repository, at, item.path)}>
        <Icon name="history" />
        History
      </a>
      <hr />
      <ChangeEntries {...{ isFolder, readOnly }} {...does} />
    </Menu>
  );
}

interface ChangeProps extends Pick<RowProps, 'readOnly' | 'onDelete' | 'onMove'> {
  isFolder: boolean;
}

/** The entries of a menu that change the branch. */
export function ChangeEntries({ isFolder, readOnly, onDelete, onMove }: ChangeProps) {
  const given = { type: 'button', disabled: Boolean(readOnly), title: readOnly } as const;
  return (
    <>
      <button {...given} onClick={() => onMove(false)}>
        <Icon name="edit" />
        Move or rename…
      </button>
      <button {...given} onClick={() => onMove(true)}>
        <Icon name="copy" />
        Copy to…
      </button>
      <button {...given} class="danger" onClick={onDelete}>
        <Icon name="trash" />
        {isFolder ? 'Delete folder…' : 'Delete…'}
      </button>
    </>
  );
}

async function copy(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  tell(`${what} is copied`);
}

/** Copy a link by the commit that the ref names now; it shows the same content for ever. */
export async function copyPermanent(
  repository: string,
  ref: string,
  path: string,
  isFolder: boolean,
): Promise<void> {
  try {
    const commit = await commitOf(repository, ref);
    const href = (isFolder ? links.objects : links.object)(repository, commit, path);
    await copy(new URL(href, location.href).href, 'The link to the last commit’s content');
  } catch (error) {
    tell(`No link is copied. ${error instanceof Error ? error.message : ''}`);
  }
}
