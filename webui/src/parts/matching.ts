/** Return what tells whether a text holds all of the typed words, in any order and case. */
export function matcher(typed: string): (text: string) => boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return text => {
    const lower = text.toLowerCase();
    return words.every(word => lower.includes(word));
  };
}

/** Return the paths that hold all of the words, those first whose names do. */
export function matchingPaths(paths: readonly string[], typed: string): string[] {
  const isMatch = matcher(typed);
  const found = paths.filter(isMatch);
  const isNamed = (path: string) => isMatch(path.slice(path.lastIndexOf('/') + 1));
  return [...found.filter(isNamed), ...found.filter(path => !isNamed(path))];
}
