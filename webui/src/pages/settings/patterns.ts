/** What is wrong with a regular expression that the server reads as RE2. */

/** Return the problem of the pattern, as far as a browser can tell; the server checks the rest. */
export function problemOfPattern(pattern: string): string | undefined {
  if (/\(\?<?[=!]/.test(pattern)) return 'Looking ahead or behind is not supported.';
  if (/(^|[^\\])(\\\\)*\\[1-9]/.test(pattern)) return 'References to groups are not supported.';
  // RE2 knows these, browsers do not: flags, names of groups, ends of the text.
  const known = pattern.replace(/\(\?[imsU-]+\)/g, '').replace(/\(\?P?<\w+>|\(\?[imsU-]+:/g, '(');
  try {
    new RegExp(known);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Return the problems of the lines, each with its number. */
export function problemOfPatterns(text: string): string | undefined {
  const problems = text.split('\n').flatMap((line, index) => {
    const problem = line && problemOfPattern(line);
    return problem ? [`Line ${index + 1}: ${problem}`] : [];
  });
  return problems.join(' ') || undefined;
}
