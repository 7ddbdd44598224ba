/** PDF opens in a tab of its own, from the bucket's address and not from ours. */

import { contentAddress } from '../../../api/objects';
import { LinkButton } from '../../../parts/button';
import { Empty } from '../../../parts/state';
import type { PreviewProps } from '../preview';

export default function PdfPreview({ place }: PreviewProps) {
  return (
    <Empty
      icon="file"
      title="PDF document"
      actions={
        <LinkButton
          icon="export"
          href={contentAddress(place, true)}
          target="_blank"
          rel="noreferrer noopener"
        >
          Open in a new tab
        </LinkButton>
      }
    >
      The browser shows it in a tab of its own.
    </Empty>
  );
}
