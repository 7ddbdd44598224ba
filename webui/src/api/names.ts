/** The rules of names, as the server has them, to tell a mistake before it is sent. */

const BRANCH = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const NOT_IN_TAGS = /[\s^:?*[\\]|\.\.|@\{/;

/** Return what is wrong with the name of a branch; nothing for a good or an empty one. */
export function problemOfBranchName(name: string): string | undefined {
  if (!name || BRANCH.test(name)) return undefined;
  return 'Use letters, digits, hyphens and underscores; do not begin with a hyphen.';
}

/** Return what is wrong with the name of a tag; nothing for a good or an empty one. */
export function problemOfTagName(name: string): string | undefined {
  if (!NOT_IN_TAGS.test(name)) return undefined;
  return 'Leave out spaces, the characters ^ : ? * [ \\, “..” and “@{”.';
}
