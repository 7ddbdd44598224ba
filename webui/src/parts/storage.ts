/** What this browser remembers between visits. One that refuses storage, or whose storage is full, forgets. */

/** Return what is remembered by the key, if anything. */
export function remembered<Value>(key: string): Value | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Remember the value; without one, forget the key. */
export function remember(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It costs only that the page begins anew.
  }
}

/** Forget all keys but those that begin with the prefix. */
export function forgetAllBut(prefix: string): void {
  try {
    for (const key of Object.keys(localStorage))
      if (!key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // As above.
  }
}
