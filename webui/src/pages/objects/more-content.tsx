/** Tells how much of an object is loaded, and loads more. */

import { Button } from '../../parts/button';
import { Notice } from '../../parts/state';
import { sizeText } from '../../parts/words';

export const STEP_BYTES = 1_000_000;

interface MoreProps {
  end: number;
  size_bytes: number;
  onMore: () => void;
}

/** Tells that what is loaded ends within the first line. */
export function LongLine({ end }: { end: number }) {
  return (
    <Notice kind="warning">
      The first line is longer than {sizeText(end)}, so there is no row yet. Load more, or download
      the object.
    </Notice>
  );
}

export function MoreContent({ end, size_bytes, onMore }: MoreProps) {
  return (
    <div class="bar small">
      <span class="quiet">
        The first {sizeText(end)} of {sizeText(size_bytes)} are loaded
      </span>
      <Button isSmall onClick={onMore}>
        Load more
      </Button>
    </div>
  );
}
