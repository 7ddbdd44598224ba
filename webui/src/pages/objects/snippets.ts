/** Code that reads an object with other programs. The command `graveler fs snippet` has the same templates. */

import templates from '../../../../graveler_cli/snippets.json';
import { lakeAddress, type Place } from '../../api/objects';
import { codeOf } from '../../parts/words';

export interface Snippet {
  /** The program, as people call it. */
  title: string;
  /** Whether it reads through the S3 gateway. */
  isS3: boolean;
  code: string;
}

interface Program {
  title: string;
  heading: string[];
  is_s3: boolean;
  first: string[];
  reads: Record<string, string[]>;
  /** A regular expression of keys that the program cannot read. */
  cannot?: string;
}

const PROGRAMS: Program[] = Object.values(templates.programs);
const OTHER = 'bytes';

/** Return the code for each program that reads such an object; `endpoint` is the S3 gateway's. */
export function snippets(place: Place, endpoint: string): Snippet[] {
  const { repository, ref, path } = place;
  const name = path.toLowerCase();
  const kind = Object.entries(templates.kinds).find(([end]) => name.endsWith(end))?.[1] ?? OTHER;
  const { host, protocol } = new URL(endpoint);
  const key = `${repository}/${ref}/${path}`;
  // DuckDB and Hadoop take paths for patterns.
  const pattern = key.replace(/[*?[\]{}\\]/g, '\\$&');
  const values: Record<string, string> = {
    endpoint: quoted(endpoint),
    host,
    is_tls: String(protocol === 'https:'),
    key: quoted(key),
    files: quoted(`s3://${pattern}`),
    url: quoted(`s3://${key}`),
    s3a: quoted(`s3a://${pattern}`),
    shell_endpoint: shellQuoted(endpoint),
    shell_url: shellQuoted(`s3://${key}`),
    shell_uri: shellQuoted(lakeAddress(place)),
    repository: quoted(repository),
    ref: quoted(ref),
    path: quoted(path),
    file: quoted(path.split('/').at(-1) || 'object'),
  };
  return PROGRAMS.flatMap(({ title, heading, is_s3: isS3, first, reads, cannot }) => {
    const read = reads[kind] ?? reads[OTHER];
    if (!read || (cannot && new RegExp(cannot, 'i').test(key))) return [];
    const about = (isS3 ? [...heading, templates.key_pair] : heading).map(line => `# ${line}`);
    const code = [...about, ...first, ...read].map(line => `${filled(line, values)}\n`).join('');
    return [{ title, isS3, code }];
  });
}

/** Return the S3 gateway's endpoint as code may have it: nothing in it can become code. */
export function checkedEndpoint(text: string): string | undefined {
  const endpoint = text.trim().replace(/\/$/, '');
  const isHost = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.test(endpoint);
  return isHost && URL.canParse(endpoint) ? endpoint : undefined;
}

/** Return the line with its values, as Python's `format` fills it in. */
function filled(line: string, values: Record<string, string>): string {
  return line.replace(/{{|}}|{(\w+)}/g, (found, name) =>
    name ? (values[name] ?? '') : found.charAt(0),
  );
}

/** Return the literal in Python, in double quotes; nothing in it turns the direction of the code. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\p{Bidi_Control}/gu, found => `\\u${codeOf(found)}`);
}

/** Return the word for a shell. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
