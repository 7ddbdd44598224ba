/** Runs a query: SQLite says which tables and columns it needs, and gets their rows. */

import start, { type Database, type Statement } from 'sql.js/dist/sql-asm-memory-growth.js';
import { Failure } from '../../api/client';
import { LIMITS } from '../limits';
import { integerText } from '../words';
import { checkComparisons } from './comparisons';
import { addFunctions } from './functions';
import { checkCasts, escaped, mistakeOf } from './mistakes';
import { withNames } from './names';
import { checkOperands } from './operands';
import { endOf, isCount, isWriting, type Reading, readingOf, type Step } from './program';
import type { Progress, Table } from './tables';
import { affinityOf, type Column, resultText, type SqlValue } from './values';

export interface Result {
  columns: { name: string; isNumber: boolean }[];
  /** The texts of the cells; a null has none. */
  rows: (string | null)[][];
  /** Whether there are more rows. */
  isCut: boolean;
}

export interface Tables {
  open: (name: string) => Promise<Table>;
  progress: Progress;
}

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

const TOO_LARGE = `The result has more than ${integerText(LIMITS.query_characters)} characters, which is too much for a page. Select fewer columns or rows.`;
const READ_ONLY = 'A query only reads: begin with SELECT, WITH, VALUES or DESCRIBE.';

// Any name that no table has.
const NO_TABLE = 'no_table_of_this_name';

/** Return the result of the query, at most so many rows. */
export async function runQuery(
  text: string,
  tables: Tables,
  rows_max: number = LIMITS.query_rows,
): Promise<Result> {
  const query = withNames(text);
  const [, described] = /^\s*describe\s+([\s\S]+?)[\s;]*$/i.exec(query) ?? [];
  const isSelect = described !== undefined && /^(select|with|values)\b/i.test(described);
  const select =
    described === undefined ? query : isSelect ? described : `SELECT * FROM ${described}`;
  // Comments may come first.
  const first = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*\(?(\w*)/.exec(select)?.[1] ?? '';
  if (!/^(select|with|values)$/i.test(first)) throw new Failure(READ_ONLY, -1);
  checkCasts(select);
  const sqlite = await database();
  try {
    const run = new Run(sqlite, select, tables);
    await run.open();
    return described === undefined ? await run.result(rows_max) : run.description();
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error;
    const { message, at } = mistakeOf(error.message, query, beginning => saidOf(sqlite, beginning));
    throw new Failure(message, -1, at);
  }
}

/** Return what SQLite says of a query that it does not understand. */
function saidOf(sqlite: Database, query: string): string | undefined {
  try {
    sqlite.prepare(query).free();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function database(): Promise<Database> {
  const { Database } = await start();
  const made = new Database();
  // The cache of pages and the temporary ones are in memory, as all is. Others' SQL has capitals in LIKE.
  made.run(
    'PRAGMA journal_mode = off; PRAGMA temp_store = memory; PRAGMA case_sensitive_like = on',
  );
  addFunctions(made);
  return made;
}

/** A table in the database, into which rows are loaded. */
class Loaded {
  count = 0;
  isWhole = false;
  private readonly rows: AsyncIterator<SqlValue[][]>;
  private readonly insert: Statement;

  constructor(
    name: string,
    table: Table,
    reading: Reading,
    private readonly database: Database,
  ) {
    const columns = reading.columns.map(at => table.columns[at] as Column);
    const names = columns.map(column => identifier(column.name));
    const values = columns.map(({ holds }, at) => valueIn(holds, at + 1));
    const row = columns.length ? `(${names}) VALUES (${values})` : 'DEFAULT VALUES';
    this.insert = database.prepare(`INSERT INTO ${identifier(name)} ${row}`);
    this.rows = table.rows(reading);
  }

  /** Load rows until there are so many, or all. */
  async load(count: number, spend: (cells: number) => void): Promise<void> {
    while (!this.isWhole && this.count < count) {
      const { done, value } = await this.rows.next();
      if (done) this.isWhole = true;
      else this.add(value, spend);
    }
  }

  private add(rows: readonly SqlValue[][], spend: (cells: number) => void): void {
    spend(rows.length * ((rows[0]?.length ?? 0) + 1));
    this.database.run('BEGIN');
    for (const row of rows) this.insert.run(row);
    this.database.run('COMMIT');
    this.count += rows.length;
  }
}

/** Return what a parameter becomes: 5 among decimals must not divide as an integer. */
function valueIn(holds: Column['holds'], at: number): string {
  return holds === 'decimals' ? `iif(typeof(?${at}) = 'integer', ?${at} * 1.0, ?${at})` : `?${at}`;
}

class Run {
  private readonly tables = new Map<string, Table>();
  /** The columns of all tables. The declared type of each ends with its place here. */
  private readonly columns: Column[] = [];
  private cells = 0;

  constructor(
    private readonly database: Database,
    private readonly query: string,
    private readonly source: Tables,
  ) {}

  /** Create the tables of the query: SQLite names them, one after the other. */
  async open(): Promise<void> {
    for (;;) {
      try {
        const statements = this.database.iterateStatements(this.query);
        statements.next();
        if (statements.getRemainingSQL().replace(/[\s;]|--[^\n]*|\/\*[\s\S]*?\*\//g, ''))
          throw new Failure(
            'Run one query at a time: there is more behind the first semicolon.',
            -1,
          );
        for (const name of this.tables.keys()) this.requireOneName(name);
        return;
      } catch (error) {
        const [, name] = /^no such table: (.*)$/s.exec((error as Error).message) ?? [];
        if (name === undefined || this.tables.has(name)) throw error;
        await this.create(name);
      }
    }
  }

  private async create(name: string): Promise<void> {
    const table = await this.source.open(name);
    if (!table.columns.length) throw new Failure(`${name} is empty: it has no columns.`, -1);
    const columns = table.columns.map(
      column =>
        `${identifier(column.name)} ${affinityOf(column)} "${this.columns.push(column) - 1}"`,
    );
    this.database.run(`CREATE TABLE ${identifier(name)} (${columns})`);
    this.tables.set(name, table);
  }

  /** Refuse another table whose name differs in capitals: to SQLite they are one, and to the lake they are two. */
  private requireOneName(name: string): void {
    // Quotes in a name are doubled.
    const pattern = (each: string) => escaped(each).replace(/['"]/g, '$&{1,2}');
    for (const { index, 0: found } of this.query.matchAll(new RegExp(pattern(name), 'gi'))) {
      if ([...this.tables.keys()].some(each => RegExp(`^${pattern(each)}$`).test(found))) continue;
      // Elsewhere, as in a text or before a column, the same letters are no table.
      const other = `${this.query.slice(0, index)}${NO_TABLE}${this.query.slice(index + found.length)}`;
      if (saidOf(this.database, other) === `no such table: ${NO_TABLE}`)
        throw new Failure(
          `${name} and ${found} differ only in capitals: a query can read only one of them.`,
          -1,
        );
    }
  }

  /** Return the columns of the result with the types of the columns that they are. */
  description(): Result {
    this.database.run(`CREATE TEMP VIEW "described query" AS ${this.query}`);
    const types = this.rowsOf('PRAGMA table_info("described query")').map(([, , declared]) =>
      /"(\d+)"$/.exec(String(declared)),
    );
    return {
      columns: ['column', 'type'].map(name => ({ name, isNumber: false })),
      rows: this.columnNames().map((name, at) => [
        name,
        this.columns[Number(types[at]?.[1])]?.type ?? null,
      ]),
      isCut: false,
    };
  }

  private columnNames(): string[] {
    const statement = this.database.prepare(this.query);
    const names = statement.getColumnNames();
    statement.free();
    return names;
  }

  async result(rows_max: number): Promise<Result> {
    const program = this.program();
    // WITH may come before a DELETE as well.
    if (isWriting(program)) throw new Failure(READ_ONLY, -1);
    if (isCount(program)) return this.shown([[BigInt(await this.count())]], rows_max);
    const pages = new Map(
      this.rowsOf('SELECT rootpage, name FROM sqlite_schema').map(([page, name]) => [
        Number(page),
        String(name),
      ]),
    );
    // With an index, values are looked up, and not compared.
    this.database.run('PRAGMA automatic_index = off');
    const compared = this.program();
    const columnOf = (page: number, at: number) =>
      this.tables.get(pages.get(page) ?? '')?.columns[at];
    checkComparisons(compared, columnOf);
    checkOperands(compared, columnOf);
    this.database.run('PRAGMA automatic_index = on');
    const loads = [...pages].flatMap(([page, name]) => {
      const reading = readingOf(program, page);
      const table = this.tables.get(name);
      return reading && table ? [new Loaded(name, table, reading, this.database)] : [];
    });
    const spend = (cells: number) => {
      this.cells += cells;
      if (this.cells > LIMITS.query_values)
        throw new Failure(
          `The query reads more than ${integerText(LIMITS.query_values)} values, which is too much for a page. Read fewer columns, or a smaller part of the table; DuckDB reads all of it.`,
          -1,
        );
    };
    const end = Math.min(endOf(program) ?? Number.POSITIVE_INFINITY, rows_max + 1);
    let wanted =
      endOf(program) === undefined ? Number.POSITIVE_INFINITY : Math.min(end, FIRST_ROWS);
    for (;;) {
      for (const load of loads) await load.load(wanted, spend);
      const rows = this.rowsOf(this.query, [], rows_max + 1);
      if (rows.length >= end || loads.every(({ isWhole }) => isWhole))
        return this.shown(rows, rows_max);
      wanted *= 4;
    }
  }

  private program(): Step[] {
    return this.rowsOf(`EXPLAIN ${this.query}`).map(
      ([address, code, p1, p2, p3, p4, p5]): Step => ({
        address: Number(address),
        code: String(code),
        p1: Number(p1),
        p2: Number(p2),
        p3: Number(p3),
        p4,
        p5: Number(p5),
      }),
    );
  }

  /** Return how many rows the only table has, which Parquet says of itself. */
  private async count(): Promise<number> {
    let count = 0;
    for (const table of this.tables.values())
      for await (const rows of table.rows({ columns: [], bounds: [] })) count += rows.length;
    return count;
  }

  private rowsOf(
    query: string,
    values: SqlValue[] = [],
    most = Number.POSITIVE_INFINITY,
  ): SqlValue[][] {
    const statement = this.database.prepare(query);
    if (values.length) statement.bind(values);
    const rows: SqlValue[][] = [];
    let characters = 0;
    while (rows.length < most && statement.step()) {
      const row = statement.get(null, { useBigInt: true }) as SqlValue[];
      for (const value of row) if (typeof value === 'string') characters += value.length;
      if (characters > LIMITS.query_characters) throw new Failure(TOO_LARGE, -1);
      rows.push(row);
    }
    statement.free();
    return rows;
  }

  private shown(rows: SqlValue[][], rows_max: number): Result {
    const shown = rows.slice(0, rows_max);
    const columns = this.columnNames().map((name, at) => {
      const values = shown.map(row => row[at]).filter(value => value !== null);
      const isNumber = values.every(
        value => typeof value === 'number' || typeof value === 'bigint',
      );
      return { name, isNumber: isNumber && values.length > 0 };
    });
    return { columns, rows: shown.map(row => row.map(resultText)), isCut: rows.length > rows_max };
  }
}

// Enough for a first page of most queries without conditions.
const FIRST_ROWS = 1_000;
