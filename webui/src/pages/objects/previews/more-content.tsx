/** Tells how much of an object is loaded, and loads more. */

import { Button } from '../../../parts/button';
import { sizeText } from '../../../parts/words';

export const STEP_BYTES = 1_000_000;

interface MoreProps {
  end: number;
  size_bytes: number;
  onMore: () => void;
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
