/**
 * Hooks that load from the server for as long as a component is shown.
 *
 * A `Read` is asked for through the cache. A key with a function is for all else: work of several
 * requests, and what a change rests on, which must not be an answer of before.
 */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { answerOf, dropAnswer, knownAnswer, type Read } from './cache';
import { type Failure, failureOf, pause } from './client';

export interface Resource<Data> {
  data: Data | undefined;
  failure: Failure | undefined;
  isLoading: boolean;
  /** Load again; what is shown stays until the new data are there. */
  reload: () => void;
  /** Replace the data without asking the server, after a change that the server has taken. */
  set: (data: Data) => void;
}

type Key = readonly unknown[];
type Load<Data> = (signal: AbortSignal) => Promise<Data>;

function isRead<Data>(asked: Read<Data> | Key): asked is Read<Data> {
  return 'load' in asked;
}

/** Load anew whenever the read, or a part of the key, changes. Data of another one are never shown. */
export function useResource<Data>(read: Read<Data>): Resource<Data>;
export function useResource<Data>(key: Key, load: Load<Data>): Resource<Data>;
export function useResource<Data>(asked: Read<Data> | Key, loadOfKey?: Load<Data>): Resource<Data> {
  const [version, setVersion] = useState(0);
  const name = isRead(asked) ? asked.name : JSON.stringify(asked);
  const start = { name, data: isRead(asked) ? knownAnswer(asked) : undefined };
  const [state, setState] = useState<{ name: string; data?: Data; failure?: Failure }>(start);
  const [isLoading, setLoading] = useState(true);
  const load = isRead(asked)
    ? (signal: AbortSignal) => answerOf(asked, signal)
    : (loadOfKey as Load<Data>);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    const abort = new AbortController();
    setLoading(true);
    // A change may drop the known answer while the new one is on its way.
    setState(old => (old.name === name ? old : start));
    latest
      .current(abort.signal)
      .then(data => !abort.signal.aborted && setState({ name, data }))
      .catch(error => {
        if (abort.signal.aborted) return;
        const failure = failureOf(error) as Failure;
        setState(old => (old.name === name ? { ...old, failure } : { name, failure }));
      })
      .finally(() => !abort.signal.aborted && setLoading(false));
    return () => abort.abort();
  }, [name, version]);

  const isCurrent = state.name === name;
  const { data, failure } = isCurrent ? state : { ...start, failure: undefined };
  return {
    data,
    failure,
    isLoading: isLoading || !isCurrent,
    reload: useCallback(() => {
      dropAnswer(name);
      setVersion(old => old + 1);
    }, [name]),
    set: useCallback((data: Data) => setState({ name, data }), [name]),
  };
}

export interface Page<Item> {
  results: Item[];
  pagination: { has_more: boolean; next_offset: string };
}

export interface Pages<Item> {
  items: Item[];
  failure: Failure | undefined;
  isLoading: boolean;
  /** Whether the server has more items than are loaded. */
  hasMore: boolean;
  /** Load the next page, unless one is being loaded or there is none. */
  more: () => void;
  reload: () => void;
}

type ReadPage<Item> = (after: string) => Read<Page<Item>>;
type LoadPage<Item> = (after: string, signal: AbortSignal) => Promise<Page<Item>>;

interface Loaded<Item> {
  name: string;
  items: Item[];
  next: string;
  hasMore: boolean;
  failure?: Failure;
}

/** Return the list with one page more. */
function withPage<Item>(from: Loaded<Item>, { results, pagination }: Page<Item>): Loaded<Item> {
  const { next_offset: next, has_more: hasMore } = pagination;
  return { name: from.name, items: [...from.items, ...results], next, hasMore };
}

/** Load a list page by page, from its beginning whenever the read, or a part of the key, changes. */
export function usePages<Item>(page: ReadPage<Item>): Pages<Item>;
export function usePages<Item>(key: Key, load: LoadPage<Item>): Pages<Item>;
export function usePages<Item>(
  asked: ReadPage<Item> | Key,
  loadOfKey?: LoadPage<Item>,
): Pages<Item> {
  const [version, setVersion] = useState(0);
  const [first, load]: [Read<Page<Item>> | undefined, LoadPage<Item>] =
    typeof asked === 'function'
      ? [asked(''), (after, signal) => answerOf(asked(after), signal)]
      : [undefined, loadOfKey as LoadPage<Item>];
  const name = JSON.stringify([first?.name ?? asked, version]);
  const empty: Loaded<Item> = { name, items: [], next: '', hasMore: true };
  const start = () => {
    const page = first && knownAnswer(first);
    return page ? withPage(empty, page) : empty;
  };
  const [state, setState] = useState<Loaded<Item>>(start);
  const [isLoading, setLoading] = useState(true);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | null>(null);

  const loadPage = useCallback((from: Loaded<Item>) => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setLoading(true);
    latest
      .current(from.next, abort.signal)
      .then(page => !abort.signal.aborted && setState(withPage(from, page)))
      .catch(error => {
        if (!abort.signal.aborted) setState({ ...from, failure: failureOf(error) as Failure });
      })
      .finally(() => {
        if (running.current !== abort) return;
        running.current = null;
        setLoading(false);
      });
  }, []);

  useEffect(() => {
    setState(old => (old.name === name ? old : start()));
    loadPage(empty);
    return () => running.current?.abort();
  }, [name]);

  const isCurrent = state.name === name;
  const { items, failure, hasMore } = isCurrent ? state : start();
  return {
    items,
    failure,
    isLoading: isLoading || !isCurrent,
    hasMore,
    more: () => {
      if (isCurrent && hasMore && !running.current) loadPage({ ...state, failure: undefined });
    },
    reload: useCallback(() => {
      if (first) dropAnswer(first.name);
      setVersion(old => old + 1);
    }, [name]),
  };
}

/** Load page after page to the end, for what needs the whole list; a failure stops it. */
export function useAllPages<Item>(pages: Pages<Item>, isActive = true): void {
  const { items, hasMore, isLoading, failure, more } = pages;
  useEffect(() => {
    if (isActive && hasMore && !isLoading && !failure) more();
  }, [isActive, hasMore, isLoading, failure, items.length]);
}

/** Call `act` every so often while `isActive`, but never while the page is hidden. */
export function usePolling(isActive: boolean, every_ms: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isActive) return;
    const abort = new AbortController();
    const poll = async () => {
      while (!abort.signal.aborted) {
        await pause(every_ms, abort.signal);
        if (document.visibilityState === 'visible') latest.current();
      }
    };
    poll().catch(() => {}); // ended by the abort
    return () => abort.abort();
  }, [isActive, every_ms]);
}

/** Return whether the component is still shown: an action of several steps ends where its dialog was closed. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );
  return () => isShown.current;
}

/** Something that a user does, and how it goes. */
export interface Action<Arguments extends unknown[] = []> {
  run: (...values: Arguments) => void;
  isBusy: boolean;
  failure: Failure | undefined;
  clear: () => void;
}

/** An action with its state: `run` does it, and keeps the failure to show. */
export function useAction<Arguments extends unknown[]>(
  act: (...values: Arguments) => Promise<void>,
): Action<Arguments> {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const run = (...values: Arguments) => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    act(...values)
      .catch(error => setFailure(failureOf(error) as Failure))
      .finally(() => setBusy(false));
  };
  return { run, isBusy, failure, clear: () => setFailure(undefined) };
}
