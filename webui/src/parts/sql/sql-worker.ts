/** Runs one query beside the page. */

import { Failure, failureOf } from '../../api/client';
import { runQuery } from './engine';
import type { Answer, Question } from './run';
import { Lake } from './tables';

const TOLD_MS = 200;

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  let told = 0;
  const lake = new Lake(data, () => {
    if (performance.now() - told < TOLD_MS) return;
    told = performance.now();
    tell({ progress: lake.progress });
  });
  try {
    const result = await runQuery(data.query, lake);
    tell({ result: { ...result, read: lake.progress, pins: await lake.pins() } });
  } catch (error) {
    const { message, status } = failureOf(error) as Failure;
    const at = error instanceof Failure ? (error.details as Answer['at']) : undefined;
    tell({ failure: { message, status }, at });
  }
});
postMessage('ready');

function tell(answer: Answer): void {
  postMessage(answer);
}
