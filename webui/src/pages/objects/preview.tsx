/** Chooses the preview of an object, and loads its module when it is needed. */

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { ObjectStats, Place } from '../../api/objects';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { sizeText } from '../../parts/words';

export interface PreviewProps {
  place: Place;
  stats: ObjectStats;
}

interface Kind {
  names: RegExp;
  /** Objects above this size are loaded only when the user asks. */
  asksAbove_bytes: number;
  load: () => Promise<{ default: ComponentType<PreviewProps> }>;
}

const MB = 1_000_000;
const ANY = Number.POSITIVE_INFINITY;

const KINDS: Kind[] = [
  { names: /\.parquet$/i, asksAbove_bytes: ANY, load: () => import('./previews/parquet') },
  { names: /\.(csv|tsv)$/i, asksAbove_bytes: ANY, load: () => import('./previews/csv') },
  {
    names: /\.(jsonl|ndjson)$/i,
    asksAbove_bytes: ANY,
    load: () => import('./previews/json-lines'),
  },
  { names: /\.(json|geojson)$/i, asksAbove_bytes: 5 * MB, load: () => import('./previews/json') },
  { names: /\.ipynb$/i, asksAbove_bytes: 10 * MB, load: () => import('./previews/notebook') },
  { names: /\.(md|markdown)$/i, asksAbove_bytes: MB, load: () => import('./previews/markdown') },
  {
    names: /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i,
    asksAbove_bytes: 4 * MB,
    load: () => import('./previews/image'),
  },
  { names: /\.pdf$/i, asksAbove_bytes: ANY, load: () => import('./previews/pdf') },
];
const TEXT: Kind = { names: /./, asksAbove_bytes: ANY, load: () => import('./previews/text') };

export function Preview({ place, stats }: PreviewProps) {
  const kind = KINDS.find(each => each.names.test(place.path)) ?? TEXT;
  const [isAsked, setAsked] = useState(stats.size_bytes <= kind.asksAbove_bytes);
  const { data, failure, reload } = useResource(['preview', place.path], async () => kind.load());
  if (!stats.size_bytes)
    return (
      <Empty icon="file" title="This object is empty">
        It has no content to preview.
      </Empty>
    );
  if (!isAsked)
    return (
      <Empty
        icon="eye"
        title={`This object has ${sizeText(stats.size_bytes)}`}
        actions={<Button onClick={() => setAsked(true)}>Load it anyway</Button>}
      >
        A preview loads all of it.
      </Empty>
    );
  if (failure) return <Problem failure={failure} retry={reload} />;
  return data ? <data.default place={place} stats={stats} /> : <Skeleton />;
}
