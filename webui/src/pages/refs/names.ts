/** What branches and tags may be called. */

const RULES = {
  branch: {
    valid: /^\w[-:\w]*(?<!:)$/,
    problem:
      'Use letters, digits, hyphens, underscores and colons; begin with a letter, a digit or an underscore, and do not end with a colon.',
  },
  tag: {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: names hold none of them
    valid: /^(?!:|.*\.\.)[^\x00-\x20^?*[\\/~$@]+(?<!:)$/,
    problem:
      'Leave out spaces, slashes, “..” and any of ^ ? * [ \\ ~ $ @, which lead elsewhere in a ref; do not begin or end with a colon.',
  },
};

/** Return what is wrong with the name; nothing for a good one. */
export function problemOfName(kind: 'branch' | 'tag', name: string): string | undefined {
  const { valid, problem } = RULES[kind];
  return valid.test(name) ? undefined : problem;
}
