/** The README.md of the directory that is shown. */

import { useCallback } from 'preact/hooks';
import { contentAddress, type ObjectStats, type Place, readText } from '../../api/objects';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Icon } from '../../parts/icon';
import { Problem, Skeleton } from '../../parts/state';

const README = /(^|\/)readme\.(md|markdown)$/i;
const SHOWN_BYTES = 500_000;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a lone per cent sign
  }
}

/** Return where a relative address of a document leads. */
export function resolver(document: Place) {
  return (address: string, isImage: boolean): string => {
    const folders = document.path.split('/').map(encodeURIComponent).join('/');
    const target = URL.parse(address, `https://root.invalid/${folders}`);
    if (target?.host !== 'root.invalid') return '';
    const path = decoded(target.pathname).slice(1);
    if (isImage) return contentAddress({ ...document, path });
    return path === '' || path.endsWith('/')
      ? links.objects(document.repository, document.ref, path)
      : links.object(document.repository, document.ref, path);
  };
}

export function Readme({ items, directory }: { items: ObjectStats[]; directory: Place }) {
  const found = items.find(item => README.test(item.path));
  if (!found) return null;
  return <Shown key={found.checksum} found={found} place={{ ...directory, path: found.path }} />;
}

function Shown({ found, place }: { found: ObjectStats; place: Place }) {
  const { data, failure, reload } = useResource(['readme', place, found.checksum], async signal => {
    const [text, { Markdown }] = await Promise.all([
      readText(place, found.size_bytes, SHOWN_BYTES, signal),
      import('../../parts/markdown'),
    ]);
    return { text, Markdown };
  });
  const resolve = useCallback(resolver(place), [place.repository, place.ref, place.path]);
  return (
    <section class="card" aria-label="Read me">
      <div class="card-head">
        <Icon name="file" />
        <a class="strong" href={links.object(place.repository, place.ref, place.path)}>
          {place.path.split('/').at(-1)}
        </a>
      </div>
      <div class="card-body">
        <Problem failure={failure} retry={reload} />
        {!data && !failure && <Skeleton />}
        {data && <data.Markdown text={data.text} resolve={resolve} />}
      </div>
    </section>
  );
}
