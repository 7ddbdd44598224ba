/** JSON as a tree or as its text; text that is no JSON shows as it is. */

import { useMemo, useState } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Button } from '../../../parts/button';
import { CodeView } from '../../../parts/code-view';
import { parseExactly } from '../../../parts/json-lines';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { JsonTree } from './json-tree';
import type { PreviewProps } from './props';

/** Return the value of the text; nothing if it is no JSON. */
function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExactly(text) };
  } catch {
    return undefined;
  }
}

export default function JsonPreview({ place, stats }: PreviewProps) {
  const [isText, setText] = useState(false);
  const { data, failure, reload } = useResource(['json', place, stats.checksum], signal =>
    readText(place, stats.size_bytes, stats.size_bytes, signal),
  );
  const parsed = useMemo(() => (data === undefined ? undefined : parse(data)), [data]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton lines={8} />;
  if (!parsed)
    return (
      <div class="stack tight">
        <Notice kind="warning">This is not valid JSON.</Notice>
        <CodeView text={data} language="json" />
      </div>
    );
  return (
    <div class="stack tight">
      <fieldset class="segments" aria-label="Show as">
        <Button isSmall aria-pressed={!isText} onClick={() => setText(false)}>
          Tree
        </Button>
        <Button isSmall aria-pressed={isText} onClick={() => setText(true)}>
          Text
        </Button>
      </fieldset>
      {isText ? <CodeView text={data} language="json" /> : <JsonTree value={parsed.value} />}
    </div>
  );
}
