/** One PUT to the bucket by a presigned URL; four at a time of all uploads. */

import { Failure } from '../../api/client';
import { Slots } from './slots';

/** How many requests send content at once, in files and in parts of files. */
export const PARALLEL = 4;

export const slots = new Slots(PARALLEL);

/** What a bucket must allow, so that browsers may send to it. */
export function corsRule(): string {
  const rule = {
    AllowedOrigins: [location.origin],
    AllowedMethods: ['GET', 'HEAD', 'PUT'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag', 'Content-Range', 'Content-Length'],
  };
  return JSON.stringify([rule], null, 2);
}

/** The bucket does not let this page send to it. */
export class BucketRefuses extends Failure {
  constructor() {
    super(
      'The bucket does not answer this page. It needs the CORS rule below, or the connection is lost.',
      0,
    );
  }
}

/** Return the content of a file, or of a part of it; what is sent later is exactly this. */
export async function readContent(content: Blob): Promise<ArrayBuffer> {
  try {
    return await content.arrayBuffer();
  } catch {
    throw new Failure('The file has changed or gone since it was chosen. Choose it again.', 0);
  }
}

/** Send the content, which has no type, to a presigned URL; return its ETag. */
export function put(
  url: string,
  content: Blob,
  signal: AbortSignal,
  onSent: (sent: number) => void,
) {
  return new Promise<string>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener('abort', stop, { once: true });
    request.upload.onprogress = event => onSent(event.loaded);
    request.onerror = () => reject(new BucketRefuses());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const { status } = request;
      if (status >= 300) {
        reject(new Failure(`The bucket refused with status ${status}. Try again.`, status));
        return;
      }
      const etag = request.getResponseHeader('ETag')?.replaceAll('"', '');
      if (etag) resolve(etag);
      else reject(new BucketRefuses());
    };
    request.onloadend = () => signal.removeEventListener('abort', stop);
    request.open('PUT', url);
    // Without a type, the browser adds no header that the signature does not know.
    request.send(content);
  });
}
