/** Notebooks: text, code and their outputs. */

import { useMemo } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { CodeView } from '../../../parts/code-view';
import { Guard } from '../../../parts/guard';
import { Markdown } from '../../../parts/markdown';
import type { Resolve } from '../../../parts/safe-html';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { resolver } from '../readme';
import { attachmentOf, type Cell, cellOf, parseNotebook, withoutScheme } from './cells';
import styles from './notebook.module.css';
import { Outputs } from './outputs';
import { Paged } from './paged';
import type { PreviewProps } from './props';

export default function NotebookPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(
    ['notebook', place, stats.checksum],
    async signal => {
      const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
      return parseNotebook(text) ?? text;
    },
  );
  const resolve = useMemo(() => resolver(place), [place.repository, place.ref, place.path]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton lines={8} />;
  if (typeof data === 'string')
    return (
      <div class="stack tight">
        <Notice kind="warning">
          This is not a valid notebook, so it shows as text. If it should be one, save it again in
          the program that made it.
        </Notice>
        <CodeView text={data} language="json" />
      </div>
    );
  return (
    <div class="stack">
      <Paged items={data.cells} name="cell">
        {cells =>
          cells.map((cell, at) => (
            <Guard key={at} told="This cell cannot be shown. Download the notebook to see it.">
              <CellView value={cell} language={data.language} resolve={resolve} />
            </Guard>
          ))
        }
      </Paged>
    </div>
  );
}

interface CellProps {
  value: unknown;
  language: string;
  resolve: Resolve;
}

function CellView({ value, language, resolve }: CellProps) {
  const cell = useMemo(() => cellOf(value), [value]);
  if (cell.kind === 'markdown') return <Text cell={cell} resolve={resolve} />;
  return (
    <div class="stack tight">
      <div class={styles.cell}>
        <span class={styles.prompt}>
          {cell.kind === 'raw' ? 'Raw' : `In [${cell.count ?? ' '}]`}
        </span>
        <div class="grow">
          <CodeView text={cell.source} language={cell.kind === 'raw' ? undefined : language} />
        </div>
      </div>
      <Guard told="The outputs of this cell cannot be shown. Download the notebook to see them.">
        <Outputs outputs={cell.outputs} />
      </Guard>
    </div>
  );
}

/** Markdown, whose images may be in the cell itself. */
function Text({ cell, resolve }: { cell: Cell; resolve: Resolve }) {
  const withAttachments = useMemo<Resolve>(
    () => (address, isImage) =>
      (isImage && attachmentOf(cell, address)) || resolve(address, isImage),
    [cell, resolve],
  );
  return (
    <div class={styles.cell}>
      <span class={styles.prompt} />
      <div class="grow">
        <Markdown text={withoutScheme(cell.source)} resolve={withAttachments} />
      </div>
    </div>
  );
}
