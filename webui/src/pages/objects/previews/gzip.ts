/** Gzip for the Parquet reader, which wants its pages at once, while browsers unpack in their own time. */

/** A page that is not unpacked yet. */
class Pending extends Error {
  readonly page: Uint8Array;

  constructor(page: Uint8Array) {
    super('a page is not unpacked yet');
    this.page = page;
  }
}

async function unpack(page: Uint8Array): Promise<Uint8Array> {
  const source = new Blob([page.slice()]).stream();
  const unpacked = source.pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

// Each run of the reader copies its bytes, so only their values tell which page it is.
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Run `read` with a decompressor; each page that it misses is unpacked, and `read` runs again. */
export async function withGzip<Rows>(
  read: (gzip: (page: Uint8Array) => Uint8Array) => Promise<Rows>,
): Promise<Rows> {
  const pages: [packed: Uint8Array, unpacked: Uint8Array][] = [];
  const gzip = (page: Uint8Array) => {
    const known = pages.find(([packed]) => isSame(packed, page));
    if (!known) throw new Pending(page);
    return known[1];
  };
  for (;;) {
    try {
      return await read(gzip);
    } catch (error) {
      if (!(error instanceof Pending)) throw error;
      pages.push([error.page.slice(), await unpack(error.page)]);
    }
  }
}
