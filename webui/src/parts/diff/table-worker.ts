/** Compares tables beside the page. It keeps the last two: a page of their rows is asked for at a time. */

import {
  comparisonOf,
  type TableComparison,
  type TableFiles,
  type TableQuestion,
} from './comparison';

/** About the rows, or about the values of the column at this place. */
export type Asked = TableFiles & ({ rows: TableQuestion } | { column: number });

let last: { id: string; comparison: TableComparison | undefined } | undefined;

addEventListener('message', async ({ data }: MessageEvent<Asked>) => {
  try {
    if (last?.id !== data.id) last = { id: data.id, comparison: await comparisonOf(data) };
    const { comparison = null } = last;
    postMessage(
      comparison && ('rows' in data ? comparison.answer(data.rows) : comparison.facts(data.column)),
    );
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
postMessage('ready');
