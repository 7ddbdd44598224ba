/** Chooses the preview of an object, and loads its module when it is needed. */

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { part } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { Guard } from '../../parts/guard';
import { LIMITS } from '../../parts/limits';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { sizeText } from '../../parts/words';
import type { PreviewProps } from './previews/props';

interface Kind {
  names: RegExp;
  /** Objects above this size show as text. */
  textAbove_bytes?: number;
  /** Objects above this size are loaded only when the user asks. */
  asksAbove_bytes: number;
  load: () => Promise<{ default: ComponentType<PreviewProps> }>;
}

const MB = 1_000_000;
const ANY = Number.POSITIVE_INFINITY;

const KINDS: Kind[] = [
  { names: /\.parquet$/i, asksAbove_bytes: ANY, load: () => import('./previews/parquet') },
  {
    names: /\.(csv|tsv|jsonl|ndjson)$/i,
    asksAbove_bytes: ANY,
    load: () => import('./previews/rows'),
  },
  { names: /\.(json|geojson)$/i, asksAbove_bytes: 5 * MB, load: () => import('./previews/json') },
  { names: /\.ipynb$/i, asksAbove_bytes: 10 * MB, load: () => import('./previews/notebook') },
  {
    names: /\.(md|markdown)$/i,
    textAbove_bytes: LIMITS.markdown_bytes,
    asksAbove_bytes: ANY,
    load: () => import('./previews/markdown'),
  },
  {
    names: /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i,
    asksAbove_bytes: 4 * MB,
    load: () => import('./previews/image'),
  },
  { names: /\.pdf$/i, asksAbove_bytes: ANY, load: () => import('./previews/pdf') },
];
const TEXT: Kind = { names: /./, asksAbove_bytes: ANY, load: () => import('./previews/text') };

function kindOf({ place, stats }: PreviewProps): Kind {
  const kind = KINDS.find(({ names }) => names.test(place.path)) ?? TEXT;
  return stats.size_bytes > (kind.textAbove_bytes ?? ANY) ? TEXT : kind;
}

export function Preview({ place, stats }: PreviewProps) {
  const kind = kindOf({ place, stats });
  const [isAsked, setAsked] = useState(stats.size_bytes <= kind.asksAbove_bytes);
  const { data, failure, reload } = useResource(['preview', place.path], () => part(kind.load()));
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
  if (!data) return <Skeleton />;
  return (
    <Guard told="This preview has failed. Download the object instead.">
      <data.default place={place} stats={stats} />
    </Guard>
  );
}
