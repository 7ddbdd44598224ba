/** What the list of collections and the form of a new one say of a run. */

import type { Schemas } from '../../api/client';
import { countText, sizeText } from '../../parts/words';

export type Run = Schemas['RunRow'];

export function amountText(objects: number, bytes = 0): string {
  return `${countText(objects, 'object')} (${sizeText(bytes)})`;
}
