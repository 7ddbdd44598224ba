/** PDF in the browser's own viewer, which runs apart from the page; where there is none, a download. */

import { useEffect } from 'preact/hooks';
import { fetchRange } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { LIMITS } from '../../../parts/limits';
import { Empty, Problem, Skeleton } from '../../../parts/state';
import { sizeText } from '../../../parts/words';
import styles from './pdf.module.css';
import type { PreviewProps } from './props';

export default function PdfPreview(props: PreviewProps) {
  const { size_bytes } = props.stats;
  if (!navigator.pdfViewerEnabled)
    return (
      <Empty icon="file" title="PDF document">
        This browser shows no PDF in a page. Download the document to read it.
      </Empty>
    );
  if (size_bytes > LIMITS.pdf_bytes)
    return (
      <Empty icon="file" title={`PDF document of ${sizeText(size_bytes)}`}>
        It is too large to be shown here. Download it to read it.
      </Empty>
    );
  return <Viewer {...props} />;
}

/** The type is ours, whatever the object says of itself: nothing but the viewer opens it. */
function Viewer({ place, stats }: PreviewProps) {
  const { data, failure, reload } = useResource(['pdf', place, stats.checksum], async signal => {
    const bytes = await fetchRange(place, 0, stats.size_bytes, signal);
    return URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }));
  });
  useEffect(() => () => URL.revokeObjectURL(data ?? ''), [data]);
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  // Without `sandbox`, in which browsers refuse to start their viewer.
  return <iframe class={styles.pdf} src={data} title={place.path.split('/').at(-1)} />;
}
