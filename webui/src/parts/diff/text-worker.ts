/** Compares texts by line beside the page. */

import { diffLines } from 'diff';
import type { Run } from './text-lines';

addEventListener('message', ({ data: [before, after] }: MessageEvent<[string, string]>) => {
  postMessage(
    diffLines(before, after).map(
      ({ added, removed, count }): Run => ({
        kind: added ? 'added' : removed ? 'removed' : 'same',
        count,
      }),
    ),
  );
});
postMessage('ready');
