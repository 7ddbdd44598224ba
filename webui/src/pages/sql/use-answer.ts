/** Runs the query of the address, and keeps what came of it. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/client';
import { type Answered, ask, type Question } from '../../parts/sql/run';
import type { Progress } from '../../parts/sql/tables';

export interface RunAnswer {
  isRunning: boolean;
  progress?: Progress;
  result?: Answered & { time_ms: number };
  failure?: Failure;
  /** Whether its user has stopped it. */
  isStopped: boolean;
  stop: () => void;
  again: () => void;
}

type State = Pick<RunAnswer, 'progress' | 'result' | 'failure'> & { name: string };

export function useAnswer(question: Question): RunAnswer {
  const [count, setCount] = useState(0);
  const name = JSON.stringify([question, count]);
  const [state, setState] = useState<State>({ name });
  const [stopped, setStopped] = useState('');
  const abort = useRef<AbortController>(undefined);
  useEffect(() => {
    if (!question.query) return;
    const own = new AbortController();
    abort.current = own;
    const begun = performance.now();
    const set = (change: Omit<State, 'name'>) =>
      own.signal.aborted || setState({ name, ...change });
    ask(question, own.signal, progress => set({ progress })).then(
      result => set({ result: { ...result, time_ms: performance.now() - begun } }),
      error => set({ failure: failureOf(error) as Failure }),
    );
    return () => own.abort();
  }, [name]);
  // What came of another query is never shown.
  const { progress, result, failure } = state.name === name ? state : ({} as State);
  const isStopped = stopped === name;
  return {
    ...{ progress, result, failure, isStopped },
    isRunning: Boolean(question.query) && !result && !failure && !isStopped,
    stop: () => {
      abort.current?.abort();
      setStopped(name);
    },
    again: () => setCount(count + 1),
  };
}
