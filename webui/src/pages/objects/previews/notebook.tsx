/** Notebooks: text, code and their outputs; HTML outputs are left out, since they may hold scripts. */

import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { CodeView } from '../../../parts/code-view';
import { Markdown } from '../../../parts/markdown';
import { Problem, Skeleton } from '../../../parts/state';
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

export default function NotebookPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(
    ['notebook', place, stats.checksum],
    async signal => {
      const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
      const notebook = JSON.parse(text) as Notebook;
      return Array.isArray(notebook.cells) ? notebook : { ...notebook, cells: [] };
    },
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
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
