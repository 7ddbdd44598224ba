/** What is used of sql.js: its build in plain JavaScript has no types of its own. */

declare module 'sql.js/dist/sql-asm-memory-growth.js' {
  type SqlValue = number | bigint | string | Uint8Array | null;

  interface Statement {
    bind(values: SqlValue[]): boolean;
    step(): boolean;
    get(values?: null, config?: { useBigInt: boolean }): SqlValue[];
    getColumnNames(): string[];
    run(values: SqlValue[]): void;
    free(): boolean;
  }

  interface Database {
    run(sql: string): Database;
    prepare(sql: string): Statement;
    iterateStatements(sql: string): Iterator<Statement> & { getRemainingSQL(): string };
    create_function(name: string, run: (...values: never[]) => SqlValue): Database;
    create_aggregate(
      name: string,
      functions: {
        init: () => number[];
        step: (state: number[], value: SqlValue) => number[];
        finalize: (state: number[]) => SqlValue;
      },
    ): Database;
  }

  const start: () => Promise<{ Database: new () => Database }>;
  export default start;
  export type { Database, SqlValue, Statement };
}
