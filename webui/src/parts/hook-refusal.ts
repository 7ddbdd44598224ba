/** A hook's refusal in one line: the check that failed, and why. The server's message has lakeFS's form. */

// A hook writes parts of the message, so each expression reads it once: no step starts again.
const REFUSAL = /(?:^|[^a-z-])(prepare|pre)-([a-z-]+) hook aborted, run id '([^']+)'/i;
const HOOK =
  /\n\t\* hook run id '\w+' failed on action '([^\n]*?)' hook '([-\w]+)': action failed: (.*?)(?=\.?$|\n\t\* hook run id)/gs;
const STATUS = /status code[: (]+(\d{3})\)/;
const TOO_LATE = /: context deadline exceeded$|^context deadline exceeded: /;

// What an event stops.
const STOPPED: Record<string, string> = {
  'create-branch': 'the creation of this branch',
  'delete-branch': 'the deletion of this branch',
  'create-tag': 'the creation of this tag',
  'delete-tag': 'the deletion of this tag',
};

/** Return the run that a message names, and the message in one line; undefined if no hook refused. */
export function hookRefusal(message: string): { run: string; line: string } | undefined {
  const refusal = REFUSAL.exec(message);
  if (!refusal) return undefined;
  const [, , event = '', run = ''] = refusal;
  const stopped = STOPPED[event] ?? `this ${event}`;
  const hooks = [...message.matchAll(HOOK)].map(([, action, hook, text = '']) => {
    const error = text.trim();
    const status = STATUS.exec(error)?.[1];
    const reason = status ? `the answer was ${status}` : error.replace(TOO_LATE, '');
    return { action, hook, reason };
  });
  const [only] = hooks;
  if (!only) return { run, line: message };
  if (hooks.length === 1)
    return { run, line: `The check "${only.hook}" stopped ${stopped}: ${only.reason}.` };
  const checks = hooks.map(({ action, hook, reason }) => `"${hook}" of "${action}": ${reason}`);
  return { run, line: `${hooks.length} checks stopped ${stopped}: ${checks.join('; ')}.` };
}
