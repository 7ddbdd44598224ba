/** The facts of columns of rows that are loaded. */

import { type ColumnFacts, factsOf } from '../../../parts/column-facts';
import { countText } from '../../../parts/words';

/** Return the facts of the column at this place in the rows. */
export function columnFacts(rows: readonly unknown[][], at: number, isCut: boolean): ColumnFacts {
  const about = `Of ${countText(rows.length, 'row')}${isCut ? ' that are loaded' : ''}`;
  return factsOf(
    rows.map(cells => cells[at]),
    about,
  );
}
