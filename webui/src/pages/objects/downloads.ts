/** Downloads of several objects, one after the other, as browsers allow. */

import { pause } from '../../api/client';
import { download, type Place } from '../../api/objects';
import { configuration } from '../../api/session';
import { tell } from '../../parts/toast';
import { countText } from '../../parts/words';

/** A browser asks its user about many downloads, and more take longer than anybody waits. */
export const DOWNLOADS_MAX = 100;

// A browser drops downloads that begin at the same moment.
const BETWEEN_MS = 400;

/** Start the download of each object. */
export async function downloadAll(places: Place[]): Promise<void> {
  const isPresigned = configuration.value?.storage_config.pre_sign_support_ui ?? false;
  for (const place of places) {
    download(place, isPresigned);
    await pause(BETWEEN_MS);
  }
  tell(`${countText(places.length, 'download')} started. Allow several if the browser asks.`);
}
