/** Images, SVG too, only as an image: no script in it can run. */

import { useState } from 'preact/hooks';
import { contentAddress } from '../../../api/objects';
import { Notice } from '../../../parts/state';
import type { PreviewProps } from '../preview';

export default function ImagePreview({ place }: PreviewProps) {
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed)
    return (
      <Notice kind="warning">
        The browser cannot show this image. Its content may be broken, or of another type than its
        name tells. Download it instead.
      </Notice>
    );
  const name = place.path.split('/').at(-1);
  return (
    <div>
      <img
        class="image-preview"
        src={contentAddress(place)}
        alt={name}
        onError={() => setFailed(true)}
      />
    </div>
  );
}
