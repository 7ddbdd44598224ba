/** What every preview is told. */

import type { ObjectStats, Place } from '../../../api/objects';

export interface PreviewProps {
  place: Place;
  stats: ObjectStats;
}
