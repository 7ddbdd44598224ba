/** The README.md of the directory that is shown. */

import { useCallback } from 'preact/hooks';
import { part } from '../../api/client';
import { contentAddress, type ObjectStats, type Place, readText } from '../../api/objects';
import { useResource } from '../../api/resource';
import { decoded, links } from '../../links';
import { Guard } from '../../parts/guard';
import { Icon } from '../../parts/icon';
import { LIMITS } from '../../parts/limits';
import { Problem, Skeleton } from '../../parts/state';
import { sizeText } from '../../parts/words';

const README = /(^|\/)readme\.(md|markdown)$/i;

/** Return where a relative address of a document leads. */
export function resolver(document: Place) {
  return (address: string, isImage: boolean): string => {
    const folders = document.path.split('/').map(encodeURIComponent).join('/');
    const target = URL.parse(address, `https://root.invalid/${folders}`);
    if (target?.host !== 'root.invalid') return '';
    const path = (decoded(target.pathname) ?? target.pathname).slice(1);
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
      readText(place, found.size_bytes, LIMITS.markdown_bytes, signal),
      part(import('../../parts/markdown')),
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
        {data && (
          <Guard told="This text cannot be shown here. Open the object by the link above, or download it.">
            <data.Markdown text={data.text} resolve={resolve} />
          </Guard>
        )}
        {data && found.size_bytes > LIMITS.markdown_bytes && (
          <p class="small quiet">
            These are the first {sizeText(LIMITS.markdown_bytes)} of {sizeText(found.size_bytes)}.
            Open the object to read on.
          </p>
        )}
      </div>
    </section>
  );
}
