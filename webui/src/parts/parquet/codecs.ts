/** How the page's Parquet files are decompressed; hyparquet itself knows Snappy. */

import { gunzipSync } from 'fflate';
import { decompress } from 'fzstd';
import type { Compressors } from 'hyparquet';
import { Failure } from '../../api/client';

/** Refuse a codec that needs WebAssembly or much code, in words. */
function unread(codec: string) {
  return (): Uint8Array => {
    throw new Failure(
      `The page cannot read ${codec}-compressed Parquet. Download the file instead.`,
      -1,
    );
  };
}

export const compressors: Compressors = {
  GZIP: input => gunzipSync(input),
  ZSTD: (input, size_bytes) => decompress(input, new Uint8Array(size_bytes)),
  BROTLI: unread('Brotli'),
  LZ4: unread('LZ4'),
  LZ4_RAW: unread('LZ4'),
  LZO: unread('LZO'),
};
