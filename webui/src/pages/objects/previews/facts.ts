/** The facts of columns of rows that are loaded. */

import { type ColumnFacts, factsOf } from '../../../parts/column-facts';
import { countText } from '../../../parts/words';

/** Return the facts of the column that has these values. */
export function columnFacts(values: readonly unknown[], isCut: boolean): ColumnFacts {
  return factsOf(values, `Of ${countText(values.length, 'row')}${isCut ? ' that are loaded' : ''}`);
}
