/** How the page's Parquet files are decompressed; hyparquet itself knows Snappy. */

import { gunzipSync } from 'fflate';
import { decompress } from 'fzstd';
import type { Compressors } from 'hyparquet';

/** Refuse a codec that needs WebAssembly or much code, in words. */
function unread(codec: string) {
  return (): Uint8Array => {
    throw new Error(`The page cannot read ${codec}-compressed Parquet.`);
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
