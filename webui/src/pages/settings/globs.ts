/** The patterns of branch protection, as the server matches them. */

const PART = /\[(!?)([^\]]+)\]|([{,}*?])|([\s\S])/g;
const CHOICES: Record<string, string> = { '{': '(?:', ',': '|', '}': ')' };
// `[!-~]` are the characters of a branch name.
const WILDCARDS: Record<string, string> = { '*': '[!-~]*', '?': '[!-~]' };

/** Return whether the whole name matches: `*`, `?`, `[a-z]`, `[!a-z]`, `{main,release-*}`. */
export function globMatches(pattern: string, name: string): boolean {
  return expressionOf(pattern).test(name);
}

function expressionOf(pattern: string): RegExp {
  let depth = 0;
  let expression = '';
  for (const [, negation, members, special = '', letter = ''] of pattern.matchAll(PART)) {
    if (members !== undefined) expression += setOf(Boolean(negation), members);
    else if (special in WILDCARDS) expression += WILDCARDS[special];
    else if (special && (depth > 0 || special === '{')) {
      depth += special === '{' ? 1 : special === '}' ? -1 : 0;
      expression += CHOICES[special];
    } else expression += escaped(special || letter);
  }
  return new RegExp(`^(?:${expression}${')'.repeat(depth)})$`);
}

function setOf(isNegated: boolean, members: string): string {
  const spans = [...members.matchAll(/(.)-(.)|(.)/gs)].flatMap(([, first, last, one]) => {
    const [from, to] = [first ?? one ?? '', last ?? one ?? ''];
    return from <= to ? [`${escaped(from)}-${escaped(to)}`] : [];
  });
  if (!spans.length) return isNegated ? '[!-~]' : '[]';
  return `[${isNegated ? '^' : ''}${spans.join('')}]`;
}

function escaped(letter: string): string {
  return letter.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
