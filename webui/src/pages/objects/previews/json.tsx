/** JSON, indented; text that is no JSON shows as it is. */

import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { CodeView } from '../../../parts/code-view';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import type { PreviewProps } from '../preview';

/** Return the text indented, or `undefined` if it is no JSON. */
function indented(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

export default function JsonPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(['json', place, stats.checksum], signal =>
    readText(place, stats.size_bytes, stats.size_bytes, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton lines={8} />;
  const pretty = indented(data);
  return (
    <div class="stack tight">
      {pretty === undefined && <Notice kind="warning">This is not valid JSON.</Notice>}
      <CodeView text={pretty ?? data} language="json" />
    </div>
  );
}
