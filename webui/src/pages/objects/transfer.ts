/** Sends one file to a branch: small ones in one request, large ones in parts that a reload keeps. */

import { API, answer, api, failureOfAnswer, patientFetch } from '../../api/client';
import { BucketRefuses, put, readContent, slots } from './bucket';
import { sendParts, type Transfer } from './upload-parts';

const SINGLE_BYTES_MAX = 8 * 1024 ** 2;
// The API takes about 4.5 MB in one request.
const API_BYTES_MAX = 4 * 1024 ** 2;

/** Upload the file; the object exists when this returns. */
export async function send(transfer: Transfer): Promise<void> {
  const { size } = transfer.file;
  if (size > SINGLE_BYTES_MAX) return sendParts(transfer);
  const content = new Blob([await readContent(transfer.file)]);
  try {
    await sendPresigned(transfer, content);
  } catch (error) {
    if (!(error instanceof BucketRefuses) || size > API_BYTES_MAX) throw error;
    await sendToApi(transfer, content);
  }
}

async function sendPresigned(
  { repository, branch, path, file, signal, onSent }: Transfer,
  content: Blob,
) {
  const at = { path: { repository, branch }, query: { path } };
  const staging = await answer(
    api.GET('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { ...at, query: { path, presign: true } },
      signal,
    }),
  );
  if (!staging.presigned_url) throw new BucketRefuses();
  const url = staging.presigned_url;
  const checksum = await slots.run(signal, () => put(url, content, signal, onSent));
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: at,
      body: {
        staging: { physical_address: staging.physical_address },
        checksum,
        size_bytes: content.size,
        content_type: file.type,
        user_metadata: {},
        force: false,
        mtime: null,
      },
      signal,
    }),
  );
}

async function sendToApi(
  { repository, branch, path, file, signal, onSent }: Transfer,
  content: Blob,
) {
  const at = `${API}/repositories/${encodeURIComponent(repository)}/branches/${encodeURIComponent(branch)}`;
  const request = new Request(`${at}/objects?${new URLSearchParams({ path })}`, {
    method: 'POST',
    headers: { 'Content-Type': file.type || 'application/octet-stream' },
    body: content,
    signal,
  });
  const response = await patientFetch(request);
  if (!response.ok)
    throw failureOfAnswer(response.status, await response.json().catch(() => undefined));
  onSent(content.size);
}
