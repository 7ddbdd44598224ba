/** The page of all branches, and that of all tags: find, create, delete one or many. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, type Schemas } from '../../api/client';
import { usePages } from '../../api/resource';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Icon } from '../../parts/icon';
import { VirtualList } from '../../parts/list';
import { Menu } from '../../parts/menu';
import { RowCheck, type Selection, useSelection } from '../../parts/selection';
import { Empty } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';
import { type Repository, useRepository } from '../../shell/repository';
import { CreateRef } from './create';
import { LastCommit } from './last-commit';
import { isProtected, useProtection } from './protection';

type Kind = 'branch' | 'tag';
type Ref = Schemas['Ref'];

const PAGE = 200;
const WORDS = {
  branch: {
    one: 'branch',
    many: 'branches',
    title: 'Branches',
    about: 'Lines of work: change objects on one without touching the others.',
  },
  tag: {
    one: 'tag',
    many: 'tags',
    title: 'Tags',
    about: 'Names for commits that matter: a release, a training set, an audit.',
  },
} as const;

export function RefsPage({ kind }: { kind: Kind }) {
  const words = WORDS[kind];
  const repository = useRepository();
  const { query, path, route } = useLocation();
  const prefix = query.prefix ?? '';
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<readonly string[]>();
  const selection = useSelection();
  const rules = useProtection(repository.id, kind);
  useTitle(words.title, repository.id);
  const list =
    kind === 'branch' ? '/repositories/{repository}/branches' : '/repositories/{repository}/tags';
  const pages = usePages([kind, repository.id, prefix], (after, signal) => {
    const params = { path: { repository: repository.id }, query: { prefix, after, amount: PAGE } };
    return answer(api.GET(list, { params, signal }));
  });
  const search = (text: string) =>
    route(text ? `${path}?${new URLSearchParams({ prefix: text })}` : path, true);
  const all = pages.items.map(({ id }) => id);

  return (
    <>
      <div class="page-head">
        <div class="titles">
          <h1>{words.title}</h1>
          <p>{words.about}</p>
        </div>
        <Button
          kind="primary"
          icon="plus"
          disabled={repository.read_only}
          onClick={() => setCreating(true)}
        >
          Create {words.one}
        </Button>
      </div>
      <div class="stack">
        <div class="bar">
          <div class="search-box">
            <Icon name="search" />
            <input
              class="input search"
              type="search"
              aria-label={`Find ${words.many} whose name begins with`}
              placeholder="Name begins with"
              value={prefix}
              onInput={event => search(event.currentTarget.value)}
            />
          </div>
          {selection.names.size > 0 && (
            <Button icon="trash" onClick={() => setDeleted([...selection.names])}>
              Delete {countText(selection.names.size, words.one, words.many)}
            </Button>
          )}
        </div>
        <VirtualList
          pages={pages}
          label={words.title}
          keyOf={({ id }) => id}
          row={ref => (
            <Row
              {...{ kind, repository, of: ref, selection, all }}
              isProtected={isProtected(ref.id, rules)}
              onDelete={() => setDeleted([ref.id])}
            />
          )}
          empty={
            <Empty
              icon={kind}
              title={prefix ? `No ${words.one} begins with “${prefix}”` : `No ${words.many} yet`}
              actions={
                !prefix &&
                !repository.read_only && (
                  <Button icon="plus" onClick={() => setCreating(true)}>
                    Create the first
                  </Button>
                )
              }
            >
              {words.about}
            </Empty>
          }
        />
      </div>
      {isCreating && (
        <CreateRef
          kind={kind}
          repository={repository.id}
          source={repository.default_branch}
          onClose={() => setCreating(false)}
          onCreated={() => {
            setCreating(false);
            pages.reload();
          }}
        />
      )}
      {deleted && (
        <Delete
          {...{ kind, names: deleted }}
          repository={repository.id}
          onClose={() => {
            setDeleted(undefined);
            selection.clear();
            pages.reload();
          }}
        />
      )}
    </>
  );
}

interface RowProps {
  kind: Kind;
  repository: Repository;
  of: Ref;
  selection: Selection;
  all: readonly string[];
  isProtected: boolean;
  onDelete: () => void;
}

function Row({ kind, repository, of, selection, all, isProtected, onDelete }: RowProps) {
  const isDefault = kind === 'branch' && of.id === repository.default_branch;
  return (
    <>
      {!isDefault && !repository.read_only ? (
        <RowCheck name={of.id} {...{ selection, all }} />
      ) : (
        <span class="row-check" />
      )}
      <Icon name={kind} />
      <a class="strong cut" href={links.objects(repository.id, of.id)}>
        {of.id}
      </a>
      {isDefault && <span class="badge indigo">Default</span>}
      {isProtected && (
        <span class="badge">
          <Icon name="lock" />
          Protected
        </span>
      )}
      <div class="grow cut wide-only">
        <LastCommit repository={repository.id} id={of.commit_id} />
      </div>
      <span class="push" />
      {!isDefault && (
        <LinkButton
          kind="ghost"
          isSmall
          icon="compare"
          label={`Compare ${of.id} with ${repository.default_branch}`}
          href={links.compare(repository.id, repository.default_branch, of.id)}
        />
      )}
      <Menu label={`More about ${of.id}`} isSmall>
        <a href={links.commits(repository.id, of.id)}>
          <Icon name="commit" /> Commits
        </a>
        {kind === 'branch' && (
          <a href={links.changes(repository.id, of.id)}>
            <Icon name="changes" /> Uncommitted changes
          </a>
        )}
        {kind === 'branch' && !isDefault && (
          <a href={links.newPull(repository.id, of.id, repository.default_branch)}>
            <Icon name="pull" /> Open a pull request
          </a>
        )}
        <button type="button" onClick={() => navigator.clipboard.writeText(of.commit_id)}>
          <Icon name="copy" /> Copy the commit’s ID
        </button>
        {!isDefault && !repository.read_only && (
          <button type="button" class="danger" onClick={onDelete}>
            <Icon name="trash" /> Delete {kind}
          </button>
        )}
      </Menu>
    </>
  );
}

interface DeleteProps {
  kind: Kind;
  repository: string;
  names: readonly string[];
  onClose: () => void;
}

function Delete({ kind, repository, names, onClose }: DeleteProps) {
  const words = WORDS[kind];
  const what =
    names.length === 1
      ? `${words.one} ${names[0]}`
      : countText(names.length, words.one, words.many);
  const act = async () => {
    for (const name of names) {
      if (kind === 'branch')
        await answer(
          api.DELETE('/repositories/{repository}/branches/{branch}', {
            params: { path: { repository, branch: name } },
          }),
        );
      else
        await answer(
          api.DELETE('/repositories/{repository}/tags/{tag}', {
            params: { path: { repository, tag: name } },
          }),
        );
    }
    tell(`Deleted ${what}.`);
  };
  return (
    <Confirm
      title={`Delete ${what}?`}
      action={`Delete ${countText(names.length, words.one, words.many)}`}
      act={act}
      onClose={onClose}
    >
      {names.length > 1 && (
        <ul class="mono small">
          {names.slice(0, 20).map(name => (
            <li key={name}>{name}</li>
          ))}
          {names.length > 20 && <li>and {names.length - 20} more</li>}
        </ul>
      )}
      <p>
        {kind === 'branch'
          ? 'Its uncommitted changes are lost. Commits that no other branch or tag reaches are kept, but you need their IDs to find them.'
          : 'The commit stays; only this name for it goes.'}
      </p>
    </Confirm>
  );
}
