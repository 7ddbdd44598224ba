/** Comma- or tab-separated values as a table. */

import { separated } from '../../../parts/separated';
import type { PreviewProps } from './props';
import { RowsPreview } from './rows';

function rowsOf(path: string, text: string) {
  const { columns, rows } = separated(path, text);
  return { names: columns, rows, read: (row: string[], at: number) => row[at] };
}

export default function CsvPreview(props: PreviewProps) {
  return <RowsPreview {...props} rowsOf={rowsOf} />;
}
