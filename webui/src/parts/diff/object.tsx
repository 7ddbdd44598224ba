/** The diff of one object: what is known of both versions, and their content side by side. */

import { useEffect, useRef } from 'preact/hooks';
import { type Failure, part } from '../../api/client';
import { contentAddress } from '../../api/objects';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button, CopyButton, LinkButton } from '../button';
import { Guard } from '../guard';
import { objectText, tableName } from '../iceberg-names';
import { LIMITS } from '../limits';
import { Notice, Problem, Skeleton } from '../state';
import { Time } from '../time';
import { integerText, sizeText } from '../words';
import type { TableFiles } from './comparison';
import { bytesOf, type Version, type Versions, versionsOf } from './content';
import { Sign } from './counts';
import styles from './object.module.css';
import type { DiffRow, DiffSource, Sides } from './source';
import type { TableTexts } from './table-changes';
import { TextDiff } from './text';
import { utf8Text } from './utf8';

interface ObjectProps {
  source: DiffSource;
  path: string;
  /** Nothing while the row is not loaded, as after a reload of the page. */
  row: DiffRow | undefined;
  previous: string | undefined;
  next: string | undefined;
  /** Show another object, or the list. */
  open: (path: string | undefined) => void;
}

const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;

export function ObjectDiff({ source, path, row, previous, next, open }: ObjectProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, []);
  const { data, failure, reload } = useResource(
    ['object diff', source.name, path, row?.type],
    signal => versionsOf(source.repository, source.sides, path, signal),
  );
  return (
    <section class="stack" aria-labelledby="object-diff">
      <div class="bar">
        <Button icon="back" onClick={() => open(undefined)}>
          All changes
        </Button>
        {row && <Sign type={row.type} />}
        <h2
          id="object-diff"
          class={`grow wrap-anywhere ${styles.title}`}
          tabIndex={-1}
          ref={heading}
        >
          {objectText(path)}
        </h2>
        <CopyButton text={path} label="Copy the path" />
        <Button
          icon="up"
          label="Previous object"
          disabled={!previous}
          onClick={() => open(previous)}
        />
        <Button icon="down" label="Next object" disabled={!next} onClick={() => open(next)} />
      </div>
      <Problem failure={failure} retry={reload} />
      {!data && !failure && <Skeleton />}
      {data && (
        <Both
          repository={source.repository}
          path={path}
          labels={source.labels(row)}
          versions={data}
        />
      )}
    </section>
  );
}

interface ContentProps {
  repository: string;
  path: string;
  versions: Versions;
}

function Both({ labels, versions, ...shared }: ContentProps & { labels: Sides }) {
  const { left, right } = versions;
  const isEqual = left.stats && right.stats && left.stats.checksum === right.stats.checksum;
  return (
    <>
      <div class={styles.sides}>
        <Facts {...shared} version={left} label={labels.left} />
        <Facts {...shared} version={right} label={labels.right} isDeleted={Boolean(left.stats)} />
      </div>
      {isEqual && (
        <Notice>The content is the same. The metadata or the place of the object changed.</Notice>
      )}
      {!isEqual && (
        <Guard told="This comparison has failed. Download both versions to compare them.">
          <Content {...shared} versions={versions} />
        </Guard>
      )}
    </>
  );
}

interface SideProps {
  repository: string;
  path: string;
  version: Version;
}

interface FactsProps extends SideProps {
  label: string;
  /** Whether the other version is the one before. */
  isDeleted?: boolean;
}

function Facts({ repository, path, version, label, isDeleted }: FactsProps) {
  const { stats, ref } = version;
  const table = tableName(path);
  const href = table ? links.table(repository, ref, table) : links.object(repository, ref, path);
  return (
    <div class="card">
      <div class="card-head">
        <strong class="grow wrap-anywhere">{label}</strong>
        {stats && (
          <LinkButton isSmall kind="ghost" icon="eye" href={href}>
            Open
          </LinkButton>
        )}
      </div>
      <div class="card-body">
        {stats ? (
          <dl class="facts small">
            <dt>Size</dt>
            <dd title={`${integerText(stats.size_bytes)} bytes`}>{sizeText(stats.size_bytes)}</dd>
            <dt>Stored</dt>
            <dd>
              <Time at={stats.mtime} />
            </dd>
            <dt>Checksum</dt>
            <dd class="mono">{stats.checksum}</dd>
          </dl>
        ) : (
          <span class="quiet">
            The object does not exist here.{' '}
            {isDeleted && (
              <a href={links.object(repository, ref, path)}>See who deleted it, and restore it</a>
            )}
          </span>
        )}
      </div>
    </div>
  );
}

function Content({ repository, path, versions }: ContentProps) {
  const { left, right } = versions;
  if (IMAGE.test(path)) return <Images {...{ repository, path, versions }} />;
  const most = Math.max(left.stats?.size_bytes ?? 0, right.stats?.size_bytes ?? 0);
  if (most > LIMITS.compared_bytes) {
    return (
      <Notice>
        A version is larger than {sizeText(LIMITS.compared_bytes)}, so its content is not compared
        here. Download both versions to compare them.
      </Notice>
    );
  }
  return <SmallContent {...{ repository, path, versions }} />;
}

function SmallContent({ repository, path, versions }: ContentProps) {
  const { left, right } = versions;
  const name = `${repository} ${path} ${left.stats?.checksum} ${right.stats?.checksum}`;
  const { data, failure, reload } = useResource(['contents', name], signal =>
    Promise.all([left, right].map(side => bytesOf(repository, side, path, signal))),
  );
  if (failure) return <Problem failure={failure as Failure} retry={reload} />;
  const [before, after] = data ?? [];
  if (!before || !after) return <Skeleton />;
  if (/\.(csv|tsv|parquet)$/i.test(path))
    return <LateTableDiff id={name} path={path} before={before} after={after} />;
  const [old, text] = [utf8Text(before), utf8Text(after)];
  if (old === undefined || text === undefined)
    return <Notice>The content is not text, so only its facts are compared.</Notice>;
  if (tableName(path)) return <LateTableChanges before={old} after={text} />;
  return <TextDiff id={name} before={old} after={text} />;
}

/** The reader of tables loads with the first one. */
function LateTableDiff(files: TableFiles) {
  const { data, failure, reload } = useResource(['table diff'], () => part(import('./table')));
  if (failure) return <Problem failure={failure} retry={reload} />;
  return data ? <data.TableDiff {...files} /> : <Skeleton />;
}

function LateTableChanges(texts: TableTexts) {
  const { data, failure, reload } = useResource(['table changes'], () =>
    part(import('./table-changes')),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  return data ? <data.TableChanges {...texts} /> : <Skeleton />;
}

function Images({ repository, path, versions }: ContentProps) {
  return (
    <div class={styles.sides}>
      {[versions.left, versions.right].map(({ ref, stats }, side) => (
        <figure key={ref} class={styles.image}>
          {stats ? (
            <img
              src={contentAddress({ repository, ref, path })}
              alt={side ? 'After the change' : 'Before the change'}
              loading="lazy"
            />
          ) : (
            <span class="quiet">No image</span>
          )}
        </figure>
      ))}
    </div>
  );
}
