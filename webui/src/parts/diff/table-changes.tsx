/** The changes of an Iceberg table: its columns, partitions, snapshots and properties. */

import { type Failure, failureOf } from '../../api/client';
import { Notice, Problem } from '../state';
import { type TableChange, tableChanges } from '../table-changes';
import { countText, visible } from '../words';
import { Sign } from './counts';

export interface TableTexts {
  /** The metadata files; '' where the table does not exist. */
  before: string;
  after: string;
}

const SHOWN = 200;

export function TableChanges({ before, after }: TableTexts) {
  let changes: TableChange[];
  try {
    changes = tableChanges(before, after);
  } catch (error) {
    return <Problem failure={failureOf(error) as Failure} />;
  }
  if (!changes.length)
    return <Notice>No column, snapshot or property changed: only other metadata did.</Notice>;
  return (
    <>
      <ul class="rows" aria-label="Changes of the table">
        {changes.slice(0, SHOWN).map(({ type, what, left, right }) => (
          <li class="row roomy" key={what}>
            <Sign type={type} />
            <span class="quiet wrap-anywhere">{visible(what)}</span>
            <span class="grow wrap-anywhere">
              {visible([left, right].filter(Boolean).join(' → '))}
            </span>
          </li>
        ))}
      </ul>
      {changes.length > SHOWN && (
        <p class="small quiet">{countText(changes.length - SHOWN, 'more change')}</p>
      )}
    </>
  );
}
