/** Matches branch names against the globs of protection rules, in time that no pattern can blow up. */

type Test = (letter: string) => boolean;
type Part =
  | { kind: 'any' }
  | { kind: 'one'; test: Test }
  | { kind: 'choice'; options: readonly (readonly Part[])[] };

/** Return whether the rule's glob matches the whole name: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\x`. */
export function matchesGlob(pattern: string, name: string): boolean {
  return ends(parse(pattern), name, new Set([0])).has(name.length);
}

function parse(pattern: string): readonly Part[] {
  return parseUntil(pattern, 0, false).parts;
}

/** Parse to the end of the pattern, or of the choice that the parts are in. */
function parseUntil(pattern: string, from: number, isInChoice: boolean) {
  const parts: Part[] = [];
  let at = from;
  while (at < pattern.length) {
    const letter = pattern.charAt(at);
    const set = /^\[(!?)((?:\\.|[^\]\\])+)]/.exec(pattern.slice(at));
    if (isInChoice && (letter === ',' || letter === '}')) break;
    if (letter === '\\') {
      const escaped = pattern.charAt(at + 1);
      if (escaped) parts.push({ kind: 'one', test: other => other === escaped });
      at += 2;
      continue;
    }
    if (set) parts.push({ kind: 'one', test: setOf(set[2] ?? '', Boolean(set[1])) });
    else if (letter === '*') parts.push({ kind: 'any' });
    else if (letter === '?') parts.push({ kind: 'one', test: () => true });
    else if (letter === '{') {
      const options: (readonly Part[])[] = [];
      do {
        const option = parseUntil(pattern, at + 1, true);
        options.push(option.parts);
        at = option.at;
      } while (pattern.charAt(at) === ',');
      parts.push({ kind: 'choice', options });
    } else parts.push({ kind: 'one', test: other => other === letter });
    at += set ? set[0].length : 1;
  }
  return { parts: parts as readonly Part[], at };
}

function setOf(members: string, isNegated: boolean): Test {
  const spans = [...members.matchAll(/(\\.|[^\\])-(\\.|[^\\])|(\\.|[^\\])/g)].map(
    ([, first, last, one]) => [(first ?? one ?? '').slice(-1), (last ?? one ?? '').slice(-1)],
  );
  return letter =>
    spans.some(([first = '', last = '']) => first <= letter && letter <= last) !== isNegated;
}

/** Return where the parts can end in the name, if they begin at one of the starts. */
function ends(parts: readonly Part[], name: string, starts: Set<number>): Set<number> {
  let places = starts;
  for (const part of parts) {
    const next = new Set<number>();
    if (part.kind === 'any') {
      for (let at = Math.min(...places); at <= name.length; at += 1) next.add(at);
    } else if (part.kind === 'one') {
      for (const at of places) if (at < name.length && part.test(name.charAt(at))) next.add(at + 1);
    } else {
      for (const option of part.options) for (const at of ends(option, name, places)) next.add(at);
    }
    if (!next.size) return next;
    places = next;
  }
  return places;
}
