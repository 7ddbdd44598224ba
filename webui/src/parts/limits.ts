/**
 * How much of a content the page draws at once. Anyone who may write to a lake can store a content that
 * would stop the tab of its reader for minutes; what is longer is shown in parts, or plainly.
 */
export const LIMITS = {
  /** Of a table. Each column is a hundred cells of the page. */
  columns: 200,
  type_characters: 200,
  /** Of a cell: the text of a nested value, and bytes. */
  cell_characters: 4_000,
  cell_bytes: 64,
  /** What is loaded of a table to sort and to search it. */
  arranged_cells: 200_000,
  /** Of a text. The browser lays out every line, seen or not. */
  lines: 20_000,
  characters: 5_000_000,
  /** Of a text in colours: its length, the time with that of loading its language, and its words of a colour, which are elements. */
  coloured_characters: 200_000,
  coloured_time_ms: 3_000,
  coloured_words: 20_000,
  /** Of Markdown and HTML that are formatted: a short text may need minutes, or ask for any number of elements. */
  markdown_bytes: 100_000,
  markdown_time_ms: 1_000,
  html_elements: 5_000,
  /** Of a notebook: what ends a page of cells, and of the outputs of a cell; and what shows of an output. */
  cells: 100,
  cells_characters: 200_000,
  terminal_characters: 1_000_000,
  output_lines: 1_000,
  output_characters: 100_000,
  /** Of a PDF, which the browser shows only as a whole. */
  pdf_bytes: 50_000_000,
  /** Of each version in a comparison: its content, the lines of a text, the cells of a table; and the time of both. */
  compared_bytes: 5_000_000,
  compared_time_ms: 10_000,
  compared_lines: 50_000,
  compared_cells: 1_000_000,
  compared_cell_characters: 1_000,
  /** Of a query: the rows of its result, what it reads, the texts of its result, and how long it takes. */
  query_rows: 50_000,
  query_values: 20_000_000,
  query_characters: 100_000_000,
  query_text_bytes: 100_000_000,
  query_objects: 1_000,
  query_time_ms: 120_000,
  /** Of a compared Parquet file once it is unpacked: a small one may claim any size. */
  unpacked_bytes: 20_000_000,
};

/** Return the beginning of the text, of at most so many lines and characters. */
export function beginning(text: string, lines: number, characters: number): string {
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const next = text.indexOf('\n', end);
    if (next < 0 || next >= characters) return text.slice(0, characters);
    end = next + 1;
  }
  return text.slice(0, end);
}
