/** One commit: what it says of itself, and what it changed since a parent. */

import { useRoute } from 'preact-iso';
import { apiRead } from '../../api/cache';
import type { Schemas } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { CopyButton, LinkButton } from '../../parts/button';
import { refsSource } from '../../parts/diff/source';
import { Diff } from '../../parts/diff/view';
import { useQuery } from '../../parts/query';
import { useRepository } from '../../parts/repository';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { useTitle } from '../../parts/title';
import { shortId, titleOf, visible } from '../../parts/words';
import { CommitMenu, ParentField } from './actions';
import styles from './commit.module.css';

type Commit = Schemas['CommitRow'];

export default function CommitPage() {
  const repository = useRepository();
  const { id = '' } = useRoute().params as { id?: string };
  useTitle(`Commit ${shortId(id)}`, repository.id);
  const { data, failure, reload } = useResource(
    apiRead('/repositories/{repository}/commits/{commitId}', {
      path: { repository: repository.id, commitId: id },
    }),
  );
  if (failure?.status === 404)
    return (
      <Empty
        icon="commit"
        title={`There is no commit ${shortId(id)}`}
        actions={<LinkButton href={links.commits(repository.id)}>All commits</LinkButton>}
      />
    );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton />;
  return <CommitDetails key={data.id} commit={data} />;
}

function CommitDetails({ commit }: { commit: Commit }) {
  const repository = useRepository();
  const [{ parent = '1' }, setQuery] = useQuery();
  const [, ...rest] = commit.message.split('\n');
  const body = rest.join('\n').trim();
  const since = commit.parents[Number(parent) - 1];
  return (
    <div class="stack loose">
      <div class={`page-head ${styles.head}`}>
        <div class="titles">
          <h1 class="wrap-anywhere">{titleOf(commit)}</h1>
          <p>
            {commit.committer} committed <Time at={commit.creation_date} />
          </p>
        </div>
        <LinkButton icon="folder" href={links.objects(repository.id, commit.id)}>
          Browse objects
        </LinkButton>
        <CommitMenu
          commit={commit}
          branch={repository.default_branch}
          onDone={() => {}}
          text="Actions"
        />
      </div>
      {body && <pre class={styles.body}>{visible(body)}</pre>}
      <CommitFacts commit={commit} />
      {commit.parents.length > 1 && (
        <ParentField
          commit={commit}
          value={parent}
          onText={number => setQuery({ parent: number === '1' ? undefined : number }, true)}
        />
      )}
      {since ? (
        <Diff
          key={since}
          source={refsSource(repository.id, since, commit.id, 'two_dot', {
            left: 'Before',
            right: 'After',
          })}
          empty={<Empty icon="check" title="No object changed since this parent" />}
        />
      ) : (
        <Empty icon="commit" title="The first commit has nothing to compare with" />
      )}
    </div>
  );
}

function CommitFacts({ commit }: { commit: Commit }) {
  const repository = useRepository().id;
  const entries = Object.entries(commit.metadata);
  const buttons = entries.flatMap(([key, value]) => buttonOf(key, value) ?? []);
  const plain = entries.filter(([key, value]) => !buttonOf(key, value));
  return (
    <div class="card">
      <div class="card-body stack">
        <dl class="facts">
          <dt>Commit</dt>
          <dd class={styles.fact}>
            <code>{commit.id}</code>
            <CopyButton text={commit.id} label="Copy the commit's ID" />
          </dd>
          <dt>{commit.parents.length === 1 ? 'Parent' : 'Parents'}</dt>
          <dd>
            {commit.parents.map(id => (
              <a key={id} class={`mono ${styles.parent}`} href={links.commit(repository, id)}>
                {shortId(id)}
              </a>
            ))}
            {!commit.parents.length && 'None: this is the first commit'}
          </dd>
          <dt>Metarange</dt>
          <dd class="mono">{commit.meta_range_id || 'Empty'}</dd>
          {plain.map(([key, value]) => (
            <>
              <dt key={key} class="wrap-anywhere">
                {key}
              </dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
        {buttons.length > 0 && (
          <div class="bar">
            {buttons.map(({ text, href }) => (
              <LinkButton key={text} icon="link" href={href} rel="noreferrer" target="_blank">
                {text}
              </LinkButton>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

/** Return the button that a key like `::lakefs::NAME::url[url:ui]` asks for, if it leads to the web. */
function buttonOf(key: string, value: string): { text: string; href: string } | undefined {
  const name = /^::lakefs::(.+)::url\[url:ui\]$/.exec(key)?.[1];
  if (!name || !URL.canParse(value)) return undefined;
  return /^https?:$/.test(new URL(value).protocol) ? { text: name, href: value } : undefined;
}
