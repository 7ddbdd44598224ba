/** Text and code; of anything else, the first bytes. */

import { useState } from 'preact/hooks';
import { fetchRange } from '../../../api/objects';
import { useResource } from '../../../api/resource';
import { Button } from '../../../parts/button';
import { CodeView, languageOf } from '../../../parts/code-view';
import { hex } from '../../../parts/hex';
import { Empty, Problem, Skeleton } from '../../../parts/state';
import { MoreContent, STEP_BYTES } from '../more-content';
import type { PreviewProps } from './props';

const SNIFFED_BYTES = 8192;
const HEX_BYTES = 512;

export default function TextPreview({ place, stats }: PreviewProps) {
  const [wanted_bytes, setWanted] = useState(STEP_BYTES);
  const end = Math.min(stats.size_bytes, wanted_bytes);
  const { data, failure, reload } = useResource(
    ['text', place, stats.checksum, end],
    async signal => fetchRange(place, 0, end, signal),
  );
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data) return <Skeleton lines={8} />;
  if (data.subarray(0, SNIFFED_BYTES).includes(0)) return <Binary bytes={data} />;
  const text = new TextDecoder().decode(data, { stream: end < stats.size_bytes });
  return (
    <div class="stack tight">
      <CodeView text={text} language={languageOf(place.path)} />
      {end < stats.size_bytes && (
        <MoreContent
          {...{ end, size_bytes: stats.size_bytes }}
          onMore={() => setWanted(wanted_bytes + STEP_BYTES)}
        />
      )}
    </div>
  );
}

function Binary({ bytes }: { bytes: Uint8Array }) {
  const [isHex, setHex] = useState(false);
  if (isHex) return <CodeView text={hexOf(bytes.subarray(0, HEX_BYTES))} />;
  return (
    <Empty
      icon="file"
      title="There is no preview of this type"
      actions={<Button onClick={() => setHex(true)}>Show the first {HEX_BYTES} bytes</Button>}
    >
      The content is binary. Download it to open it in another program.
    </Empty>
  );
}

/** Return lines of sixteen bytes: the offset, the bytes, the characters. */
function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const digits = hex(row, ' ');
    const text = row.map(byte => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.'));
    lines.push(`${at.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${text.join('')}`);
  }
  return lines.join('\n');
}
