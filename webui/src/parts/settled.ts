/** Searches while one types: a request for each pause, not for each key, and Enter for what is typed now. */

import { useEffect, useState } from 'preact/hooks';

const PAUSE_MS = 200;

/** Return the text as it was when it last stayed the same for a moment. An emptied one counts at once. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return text && settled;
}

/** Return what Enter does: it acts once all is found for this text. What is typed after it takes it back. */
export function useEnter(text: string, isReady: boolean, act: () => void): () => void {
  const [entered, setEntered] = useState<string>();
  const isDue = isReady && entered === text;
  useEffect(() => {
    if (!isDue) return;
    setEntered(undefined);
    act();
  }, [isDue]);
  return () => setEntered(text);
}
