/** Notebooks: text, code and their outputs; HTML outputs are left out, since they may hold scripts. */

import { useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Button } from '../../../parts/button';
import { CodeView } from '../../../parts/code-view';
import { Guard } from '../../../parts/guard';
import { beginning, LIMITS } from '../../../parts/limits';
import { Markdown } from '../../../parts/markdown';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { countText } from '../../../parts/words';
import { type Cell, joined, type Notebook, type Output, pageEnd, parseNotebook } from './cells';
import type { PreviewProps } from './props';

export default function NotebookPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(
    ['notebook', place, stats.checksum],
    async signal => {
      const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
      return parseNotebook(text) ?? text;
    },
  );
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
  return <Cells notebook={data} />;
}

function Cells({ notebook: { cells, language } }: { notebook: Notebook }) {
  const [end, setEnd] = useState(() => pageEnd(cells, 0));
  return (
    <div class="stack">
      {cells.slice(0, end).map((cell, index) => (
        <Guard key={index} told="This cell cannot be shown. Download the notebook to see it.">
          <CellView cell={cell as Cell} language={language} />
        </Guard>
      ))}
      {end < cells.length && (
        <div class="bar small">
          <span class="quiet">
            The first {end.toLocaleString('en')} of {countText(cells.length, 'cell')}
          </span>
          <Button isSmall onClick={() => setEnd(pageEnd(cells, end))}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

function CellView({ cell, language }: { cell: Cell; language: string }) {
  const source = joined(cell.source);
  const outputs = cell.outputs ?? [];
  return (
    <div class="stack tight">
      {cell.cell_type === 'markdown' ? (
        <Markdown text={source} />
      ) : (
        <CodeView text={source} language={language} />
      )}
      {outputs.slice(0, LIMITS.outputs).map((output, at) => (
        <Guard key={at} told="This output cannot be shown. Download the notebook to see it.">
          <Shown output={output} />
        </Guard>
      ))}
      {outputs.length > LIMITS.outputs && (
        <p class="small quiet">
          {countText(outputs.length - LIMITS.outputs, 'more output')} of this cell are left out.
          Download the notebook for them.
        </p>
      )}
    </div>
  );
}

function Shown({ output }: { output: Output }) {
  const data = output.data ?? {};
  const image = ['image/png', 'image/jpeg'].find(type => data[type]);
  if (image)
    return (
      <img src={`data:${image};base64,${joined(data[image]).replace(/\s/g, '')}`} alt="Output" />
    );
  const text = joined(output.text ?? data['text/plain'] ?? output.traceback);
  const shown = beginning(text, LIMITS.output_lines, LIMITS.output_characters);
  return (
    <>
      {shown && <pre class="wrap-anywhere">{shown}</pre>}
      {shown.length < text.length && (
        <p class="small quiet">
          The rest of this output is left out. Download the notebook for it.
        </p>
      )}
      {Boolean(data['text/html']) && (
        <p class="small quiet">
          The HTML of this output is left out. Download the notebook for it.
        </p>
      )}
    </>
  );
}
