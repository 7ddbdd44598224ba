/** Iceberg tables are objects at paths of their own. */

import { visible } from './words';

const ROOT = '_lakefs_tables/iceberg/';

/** Begins the paths of all tables, and of the properties of namespaces. */
export const TABLES_PREFIX = `${ROOT}namespaces/`;

const LEVEL = '/namespaces/';
const TABLE = new RegExp(`^${ROOT}namespaces/((?:[^/]+${LEVEL})*[^/]+)/tables/([^/]+)$`);

/** Return the name of the table at the path, as `sales.orders`: its path if a part has a dot, '' if it is no table's. */
export function tableName(path: string): string {
  const [, namespace = '', table = ''] = TABLE.exec(path) ?? [];
  const parts = [...namespace.split(LEVEL), table];
  return table && parts.some(part => part.includes('.')) ? path : table && parts.join('.');
}

/** Return the path of the table that has the name. */
export function tablePath(name: string): string {
  if (name.includes('/')) return name;
  const levels = name.split('.');
  const table = levels.pop();
  return `${TABLES_PREFIX}${levels.join(LEVEL)}/tables/${table}`;
}

/** Return what people call the object of the path: a table by its name. */
export function objectText(path: string, text = path): string {
  const table = tableName(path);
  return visible(table ? `table ${table}` : text);
}
