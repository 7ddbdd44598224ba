/** Markdown; images of the same repository show. */

import { useCallback } from 'preact/hooks';
import { readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Markdown } from '../../../parts/markdown';
import { Problem, Skeleton } from '../../../parts/state';
import { resolver } from '../readme';
import type { PreviewProps } from './props';

export default function MarkdownPreview({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(['markdown', place, stats.checksum], signal =>
    readText(place, stats.size_bytes, stats.size_bytes, signal),
  );
  const resolve = useCallback(resolver(place), [place.repository, place.ref, place.path]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (data === undefined) return <Skeleton />;
  return (
    <div class="card">
      <div class="card-body">
        <Markdown text={data} resolve={resolve} />
      </div>
    </div>
  );
}
