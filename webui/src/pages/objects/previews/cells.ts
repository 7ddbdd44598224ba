/** Notebooks, read from their JSON. Anything may be missing or of another type than it should. */

import { LIMITS } from '../../../parts/limits';

export interface Notebook {
  cells: unknown[];
  language: string;
}

export interface Cell {
  cell_type?: string;
  source?: unknown;
  outputs?: Output[];
}

export interface Output {
  text?: unknown;
  data?: Record<string, unknown>;
  traceback?: unknown;
}

/** Return the notebook in the text, or `undefined` if there is none. */
export function parseNotebook(text: string): Notebook | undefined {
  try {
    const value = JSON.parse(text);
    if (!Array.isArray(value?.cells)) return undefined;
    const language = value.metadata?.language_info?.name;
    return { cells: value.cells, language: typeof language === 'string' ? language : 'python' };
  } catch {
    return undefined;
  }
}

/** Return a text that notebooks keep in one piece, in lines, or not at all. */
export function joined(text: unknown): string {
  if (text === undefined || text === null) return '';
  if (typeof text === 'string') return text;
  if (Array.isArray(text)) return text.join('');
  throw new TypeError('a text of this notebook is none');
}

/** Return where the page of cells ends that starts here: it has at least one, and not too much text. */
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
