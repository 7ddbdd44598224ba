/** Queries of what is in the repository, to begin with. */

import { answerOf, apiRead } from '../../api/cache';
import { eachPage } from '../../api/objects';
import { useResource } from '../../api/resource';
import { firstRows, formatOf, OBJECTS, quoted } from '../../parts/sql/names';
import { Problem, Skeleton } from '../../parts/state';
import styles from './examples.module.css';

interface ExamplesProps {
  repository: string;
  at: string;
  onChoose: (query: string) => void;
}

/** Return queries of the objects and of the first table, if there is one, with what each shows. */
async function examplesOf(repository: string, at: string, signal: AbortSignal) {
  const path = await firstTable(repository, at, signal);
  const largest = `SELECT path, size FROM ${quoted(OBJECTS)} ORDER BY size DESC LIMIT 100`;
  const objects: [title: string, query: string] = ['The largest objects', largest];
  if (path === undefined) return [objects];
  const examples: [title: string, query: string][] = [
    ['The first rows', firstRows(path)],
    ['How many rows', `SELECT count(*) FROM ${quoted(path)}`],
    ['Columns and their types', `DESCRIBE ${quoted(path)}`],
    objects,
  ];
  const query = { amount: 2 };
  const branches = apiRead('/repositories/{repository}/branches', { path: { repository }, query });
  const other = (await answerOf(branches, signal)).results.find(({ id }) => id !== at)?.id;
  const there = quoted(`lakefs://${repository}/${other}/${path}`);
  const all = `SELECT * FROM ${quoted(path)}\nEXCEPT\nSELECT * FROM ${there}`;
  return other ? [...examples, [`Rows that ${other} has not`, all] as const] : examples;
}

/** Return the first Parquet file, or else the first table, of the first objects. */
async function firstTable(repository: string, at: string, signal: AbortSignal) {
  for await (const objects of eachPage(repository, at, '', signal)) {
    const paths = objects.map(({ path }) => path).filter(path => formatOf(path));
    return paths.find(path => formatOf(path) === 'parquet') ?? paths[0];
  }
  return undefined;
}

export function Examples({ repository, at, onChoose }: ExamplesProps) {
  const { data, failure, reload } = useResource(['examples', repository, at], signal =>
    examplesOf(repository, at, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <section class="stack tight" aria-label="Examples">
      <h2 class="small quiet">Examples</h2>
      <ul class={styles.examples}>
        {data.map(([title, query]) => (
          <li key={title}>
            <button type="button" class={styles.example} onClick={() => onChoose(query)}>
              <span class="small quiet">{title}</span>
              <code>{query}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
