/** Notebooks, read from their JSON. Anything may be missing or of another type than it should. */

import { decoded } from '../../../links';
import { LIMITS } from '../../../parts/limits';

export interface Notebook {
  cells: unknown[];
  language: string;
}

export interface Cell {
  kind: 'markdown' | 'code' | 'raw';
  source: string;
  /** The number of its run. */
  count?: number;
  outputs: unknown[];
  /** The images that its Markdown shows: their texts by type, by name. */
  attachments: Record<string, Bundle>;
}

/** One content in several types. */
type Bundle = Record<string, unknown>;

export type Output =
  | { kind: 'text'; name: string; text: string }
  | { kind: 'error'; text: string }
  | { kind: 'data'; data: Bundle; metadata: Bundle; count?: number };

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Return the notebook in the text, or `undefined` if there is none. */
export function parseNotebook(text: string): Notebook | undefined {
  let value: Record<string, unknown>;
  try {
    value = objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
  // The third format has sheets of cells.
  const cells =
    value.cells ?? objectOf(Array.isArray(value.worksheets) && value.worksheets[0]).cells;
  if (!Array.isArray(cells)) return undefined;
  const { language_info, kernelspec } = objectOf(value.metadata);
  const names = [objectOf(language_info).name, objectOf(kernelspec).language];
  const language = names.find(name => typeof name === 'string') as string | undefined;
  return { cells, language: language ?? 'python' };
}

/** Return a text that notebooks keep in one piece, in lines, or not at all. */
export function joined(text: unknown, between = ''): string {
  if (text === undefined || text === null) return '';
  if (typeof text === 'string') return text;
  if (Array.isArray(text)) return text.join(between);
  throw new TypeError('a text of this notebook is none');
}

/** Return the cell; one of the third format as if it were of the fourth. */
export function cellOf(value: unknown): Cell {
  const {
    cell_type,
    source,
    input,
    level,
    outputs = [],
    ...rest
  } = value as Record<string, unknown>;
  const text = joined(source ?? input);
  const shared = {
    count: numberOf(rest.execution_count ?? rest.prompt_number),
    outputs: outputs as unknown[],
    attachments: objectOf(rest.attachments) as Record<string, Bundle>,
  };
  if (cell_type === 'heading')
    return { ...shared, kind: 'markdown', source: `${'#'.repeat(numberOf(level) ?? 1)} ${text}` };
  const kind = cell_type === 'markdown' || cell_type === 'raw' ? cell_type : 'code';
  return { ...shared, kind, source: text };
}

/** The short names of types in the third format. */
const TYPES: Record<string, string> = {
  text: 'text/plain',
  html: 'text/html',
  latex: 'text/latex',
  png: 'image/png',
  jpeg: 'image/jpeg',
  svg: 'image/svg+xml',
};

/** Return the output; one of the third format as if it were of the fourth. */
export function outputOf(value: unknown): Output {
  const { output_type, name, stream, text, traceback, ename, evalue, ...rest } = value as Bundle;
  if (traceback !== undefined || output_type === 'error' || output_type === 'pyerr') {
    const error = `${joined(ename)}: ${joined(evalue)}`;
    return { kind: 'error', text: joined(traceback, '\n') || error };
  }
  const isOld = output_type === 'pyout' || (output_type === 'display_data' && !rest.data);
  if (text !== undefined && !isOld)
    return { kind: 'text', name: joined(name ?? stream), text: joined(text) };
  const old = Object.entries({ text, ...rest }).flatMap(([key, content]) =>
    TYPES[key] && content !== undefined ? [[TYPES[key], content]] : [],
  );
  return {
    kind: 'data',
    data: isOld ? Object.fromEntries(old) : objectOf(rest.data),
    metadata: objectOf(rest.metadata),
    count: numberOf(rest.execution_count ?? rest.prompt_number),
  };
}

/** Return the outputs; pieces of one stream that follow each other are one text, as a terminal shows them. */
export function outputsOf(values: readonly unknown[]): Output[] {
  const outputs: Output[] = [];
  for (const output of values.map(outputOf)) {
    const last = outputs.at(-1);
    if (output.kind === 'text' && last?.kind === 'text' && last.name === output.name)
      last.text += output.text;
    else outputs.push(output);
  }
  return outputs;
}

/** In the order in which a browser shows them best. */
const IMAGES = ['image/svg+xml', 'image/png', 'image/jpeg', 'image/webp', 'image/gif'];

export interface Image {
  address: string;
  width?: number;
  height?: number;
}

const SIZE_MAX = 10_000;

/** Return the address and the size of the image among the types, if there is one. */
export function imageOf(data: Bundle, metadata: Bundle = {}): Image | undefined {
  const type = IMAGES.find(each => data[each]);
  if (!type) return undefined;
  const text = joined(data[type]);
  const size = { ...metadata, ...objectOf(metadata[type]) };
  const isSize = (value: unknown) => typeof value === 'number' && value > 0 && value < SIZE_MAX;
  return {
    address: text.trimStart().startsWith('<')
      ? `data:${type},${encodeURIComponent(text)}`
      : `data:${type};base64,${text.replace(/\s/g, '')}`,
    ...(isSize(size.width) && { width: size.width as number }),
    ...(isSize(size.height) && { height: size.height as number }),
  };
}

/** Return the Markdown with the names of attachments as relative addresses. */
export function withoutScheme(markdown: string): string {
  return markdown.replace(/(\]\(\s*<?|src\s*=\s*["']?)attachment:/g, '$1');
}

/** Return the address of the image that the cell has by this name. */
export function attachmentOf({ attachments }: Cell, address: string): string | undefined {
  const name = [address, decoded(address)].find(each => each && Object.hasOwn(attachments, each));
  return name && imageOf(attachments[name] ?? {})?.address;
}

/** Return where the page of cells, or of outputs, ends that starts here: it has at least one, and not too much text. */
export function pageEnd(cells: readonly unknown[], start: number): number {
  let end = start;
  let characters = 0;
  while (end < cells.length && end < start + LIMITS.cells && characters < LIMITS.cells_characters) {
    characters += charactersOf(cells[end]);
    end += 1;
  }
  return end;
}

/** Images do not count: as large as their text is, they are one element. */
function charactersOf(cell: unknown): number {
  return JSON.stringify(cell, (key, value) => (key.startsWith('image/') ? null : value)).length;
}
