/**
 * Sends one file to a branch: large ones in parts that a reload keeps. Small ones share the requests
 * for their addresses and of their links.
 */

import { API, answer, api, failureOfAnswer, patientFetch, type Schemas } from '../../api/client';
import { BucketRefuses, put, readContent, slots } from './bucket';
import { Together } from './together';
import { sendParts, type Transfer } from './upload-parts';

const SINGLE_BYTES_MAX = 8 * 1024 ** 2;
// The API takes about 4.5 MB in one request.
const API_BYTES_MAX = 4 * 1024 ** 2;

/** Whether the file is sent in parts, several of them at a time. */
export function isLarge({ size }: File): boolean {
  return size > SINGLE_BYTES_MAX;
}

/** Upload the file; the object exists when this returns. */
export async function send(transfer: Transfer): Promise<void> {
  if (isLarge(transfer.file)) return sendParts(transfer);
  try {
    await sendPresigned(transfer);
  } catch (error) {
    if (!(error instanceof BucketRefuses) || transfer.file.size > API_BYTES_MAX) throw error;
    await slots.run(transfer.signal, () => sendToApi(transfer));
  }
}

type Branch = Pick<Transfer, 'repository' | 'branch'>;
type PathError = Schemas['ObjectError'];

/** The requests of each branch for which uploads share them. */
const shared = new Map<string, ReturnType<typeof requestsOf>>();

function requestsOf(path: Branch) {
  const addresses = new Together(async (paths: string[]) => {
    const found = await answer(
      api.POST('/repositories/{repository}/branches/{branch}/staging/addresses', {
        params: { path, query: { presign: true } },
        body: { paths },
      }),
    );
    return inOrder(paths, found.addresses, found.errors);
  });
  const links = new Together(async (objects: Schemas['PathData'][]) => {
    const found = await answer(
      api.POST('/repositories/{repository}/branches/{branch}/staging/links', {
        params: { path },
        body: { objects },
      }),
    );
    const paths = objects.map(each => each.path);
    return inOrder(paths, found.objects, found.errors);
  });
  return { addresses, links };
}

function inOrder<Row extends { path: string }>(
  paths: string[],
  rows: Row[],
  errors: PathError[],
): (Row | PathError | undefined)[] {
  const found = new Map([...errors, ...rows].map(each => [each.path, each]));
  return paths.map(path => found.get(path));
}

function isError(found: { path: string }): found is PathError {
  return 'status_code' in found;
}

async function sendPresigned(transfer: Transfer) {
  const { repository, branch, path, file, signal, onSent } = transfer;
  const key = JSON.stringify([repository, branch]);
  const { addresses, links } = shared.get(key) ?? requestsOf({ repository, branch });
  shared.set(key, { addresses, links });
  const address = await addresses.ask(path);
  if (address && isError(address)) throw failureOfAnswer(address.status_code, address);
  const url = address?.presigned_url;
  if (!url) throw new BucketRefuses();
  const checksum = await slots.run(signal, async () =>
    put(url, new Blob([await readContent(file)]), signal, onSent),
  );
  signal.throwIfAborted();
  const data = {
    staging: { physical_address: address.physical_address },
    checksum,
    size_bytes: file.size,
    content_type: file.type,
  };
  const linked = await links.ask({ path, ...data });
  if (!linked || !isError(linked)) return;
  const { status_code: status } = linked;
  if (status !== 429 && status !== 503) throw failureOfAnswer(status, linked);
  // It had no effect. This request waits for its turn.
  await answer(
    api.PUT('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { path: { repository, branch }, query: { path } },
      body: data,
      signal,
    }),
  );
}

async function sendToApi({ repository, branch, path, file, signal, onSent }: Transfer) {
  const content = new Blob([await readContent(file)]);
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
