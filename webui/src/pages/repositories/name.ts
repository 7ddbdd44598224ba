const VALID = /^[a-z0-9][a-z0-9-]{2,62}$/;

/** Return what is wrong with the name of a repository; nothing for a good one. */
export function problemOfName(name: string): string | undefined {
  return VALID.test(name)
    ? undefined
    : 'Use 3 to 63 lower-case letters, digits and hyphens; begin with a letter or digit.';
}

/** Say why a storage namespace was refused; `message` is the server's. */
export function problemOfNamespace(namespace: string, message: string): string {
  return message.includes('storage namespace already in use')
    ? `${namespace} already holds a repository: choose another prefix.`
    : message;
}
