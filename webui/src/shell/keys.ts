/** Keys that act only while a part of the page is shown. */

import { useEffect, useRef } from 'preact/hooks';

const acts = new Map<string, () => void>();

/** Let the key act while the component is shown. */
export function useKey(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    acts.set(key, () => latest.current());
    return () => {
      acts.delete(key);
    };
  }, [key]);
}

/** Return what the key does on the present page, if anything. */
export function actOf(key: string): (() => void) | undefined {
  return acts.get(key);
}
