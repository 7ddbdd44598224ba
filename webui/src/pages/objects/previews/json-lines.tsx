/** JSON lines as a table, with a column for each key of any line. */

import { cellOf, type Line, readLines } from '../../../parts/lines';
import type { PreviewProps } from './props';
import { RowsPreview } from './rows';

function rowsOf(_: string, text: string) {
  const { keys, rows, wrong } = readLines(text);
  return { names: keys, rows, wrong, read: (row: Line, at: number) => cellOf(row, keys[at] ?? '') };
}

export default function JsonLinesPreview(props: PreviewProps) {
  return <RowsPreview {...props} rowsOf={rowsOf} />;
}
