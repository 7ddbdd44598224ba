/** Images, SVG too, only as an image: no script in it can run. */

import { useState } from 'preact/hooks';
import { contentAddress, readText } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import styles from './image.module.css';
import type { PreviewProps } from './props';

const SVG = 'image/svg+xml';

/** Return the image's address. Browsers know SVG by its type alone, and many clients send none. */
function useAddress({ place, stats }: PreviewProps) {
  const isUntyped = /\.svg$/i.test(place.path) && stats.content_type !== SVG;
  return useResource(['image', place, stats.checksum], async signal => {
    if (!isUntyped) return contentAddress(place);
    const text = await readText(place, stats.size_bytes, stats.size_bytes, signal);
    return `data:${SVG},${encodeURIComponent(text)}`;
  });
}

export default function ImagePreview(props: PreviewProps) {
  const [isBroken, setBroken] = useState(false);
  const { data, failure, reload } = useAddress(props);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  if (isBroken)
    return (
      <Notice kind="warning">
        The browser cannot show this image. Its content may be broken, or of another type than its
        name tells. Download it instead.
      </Notice>
    );
  const name = props.place.path.split('/').at(-1);
  return (
    <div>
      <img class={styles.image} src={data} alt={name} onError={() => setBroken(true)} />
    </div>
  );
}
