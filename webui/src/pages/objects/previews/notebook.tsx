/** Notebooks: text, code and their outputs; HTML outputs are left out, since they may hold scripts. */

import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { CodeView } from '../../../parts/code-view';
import { Markdown } from '../../../parts/markdown';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import type { PreviewProps } from '../preview';

type Text = string | string[];

interface Output {
  text?: Text;
  data?: Record<string, Text>;
  traceback?: string[];
}

interface Cell {
  cell_type: string;
  source: Text;
  outputs?: Output[];
}

interface Notebook {
  cells: Cell[];
  metadata?: { language_info?: { name?: string } };
}

const joined = (text: Text | undefined) => (Array.isArray(text) ? text.join('') : (text ?? ''));

/** Return the notebook in the text, or `undefined` if there is none. */
function parse(text: string): Notebook | undefined {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value?.cells) ? value : undefined;
  } catch {
    return undefined;
  }
}

export default function NotebookPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(
    ['notebook', place, stats.checksum],
    async signal => {
      const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
      return parse(text) ?? text;
    },
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton lines={8} />;
  if (typeof data === 'string')
    return (
      <div class="stack tight">
        <Notice kind="warning">This is not a notebook, or a broken one.</Notice>
        <CodeView text={data} language="json" />
      </div>
    );
  const language = data.metadata?.language_info?.name ?? 'python';
  return (
    <div class="stack">
      {data.cells.map((cell, index) => (
        <div class="stack tight" key={index}>
          {cell.cell_type === 'markdown' ? (
            <Markdown text={joined(cell.source)} />
          ) : (
            <CodeView text={joined(cell.source)} language={language} />
          )}
          {cell.outputs?.map((output, at) => (
            <Shown key={at} output={output} />
          ))}
        </div>
      ))}
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
  return (
    <>
      {text && <pre class="wrap-anywhere">{text}</pre>}
      {data['text/html'] && (
        <p class="small quiet">
          The HTML of this output is left out. Download the notebook for it.
        </p>
      )}
    </>
  );
}
