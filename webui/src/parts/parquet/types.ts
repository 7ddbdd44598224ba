/** The types of Parquet's columns, nested ones among them, and the texts of their values. */

import type { SchemaTree } from 'hyparquet';
import { bytesText, type Kind, kindOf, logicalOf } from './values';

/** How a value is read: lists are arrays, the fields of a struct are named by their position. */
export type Type =
  | ({ is: 'leaf' } & Kind)
  | { is: 'list'; name: string; item: Type }
  | { is: 'map'; name: string; key: Type; value: Type }
  | { is: 'struct'; name: string; fields: readonly { name: string; type: Type }[] };

/** Return whether the texts of the values are numbers. */
export function isNumber(type: Type): boolean {
  return type.is === 'leaf' && type.isBare === true && type.name !== 'boolean';
}

/** Those the reader decodes by itself, with whatever is in them. */
export function isDecoded({ element }: SchemaTree): boolean {
  return /^(VARIANT|GEOMETRY|GEOGRAPHY)$/.test(logicalOf(element)?.type ?? '');
}

/** Return the repeated part of a list or map, if there is one as the format asks for. */
function repeatedOf({ children }: SchemaTree): SchemaTree | undefined {
  const [only] = children;
  return children.length === 1 && only?.element.repetition_type === 'REPEATED' ? only : undefined;
}

/** Return the key and the value of a map. */
export function entryOf(tree: SchemaTree): [SchemaTree, SchemaTree] | undefined {
  const type = logicalOf(tree.element)?.type as string | undefined;
  if (type !== 'MAP' && type !== 'MAP_KEY_VALUE') return undefined;
  const [key, value, ...more] = repeatedOf(tree)?.children ?? [];
  return key && value && !more.length ? [key, value] : undefined;
}

/** Return the type of what a list holds: the only part of its repeated part, or that itself if it has no parts. */
function itemOf(tree: SchemaTree): Type | undefined {
  const repeated = logicalOf(tree.element)?.type === 'LIST' ? repeatedOf(tree) : undefined;
  if (!repeated || repeated.children.length > 1) return undefined;
  const [item] = repeated.children;
  return item ? typeOf(item) : typeOfEach(repeated);
}

const list = (item: Type): Type => ({ is: 'list', name: `list<${item.name}>`, item });

/** Return the type of the column, or of a part of one. */
export function typeOf(tree: SchemaTree): Type {
  const type = typeOfEach(tree);
  return tree.element.repetition_type === 'REPEATED' ? list(type) : type;
}

function typeOfEach(tree: SchemaTree): Type {
  if (isDecoded(tree)) {
    const name = logicalOf(tree.element)?.type.toLowerCase() ?? '';
    return { is: 'leaf', name, text: valueText, isBare: true };
  }
  if (!tree.children.length) return { is: 'leaf', ...kindOf(tree.element) };
  const item = itemOf(tree);
  if (item) return list(item);
  const entry = entryOf(tree);
  if (entry) {
    const [key, value] = [typeOf(entry[0]), typeOf(entry[1])];
    return { is: 'map', name: `map<${key.name}, ${value.name}>`, key, value };
  }
  const fields = tree.children.map(child => ({ name: child.element.name, type: typeOf(child) }));
  const names = fields.map(({ name, type }) => `${name}: ${type.name}`);
  return { is: 'struct', name: `struct<${names.join(', ')}>`, fields };
}

/** Return a value that the reader decoded. */
function valueText(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part === 'bigint') return String(part);
    return part instanceof Uint8Array ? bytesText(part) : part;
  });
}

/** How much of a value is wanted. */
export interface Most {
  characters: number;
  bytes: number;
}

/** Return the text of a value, JSON if it is nested; nothing for a null. */
export function textOf(type: Type, value: unknown, most: Most): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (type.is === 'leaf') return type.text(value as never, most.bytes);
  const json = new Json(most);
  json.write(type, value);
  return json.text.length > most.characters ? `${json.text.slice(0, most.characters)}…` : json.text;
}

/** Writes nested values, whose numbers keep all their digits, until there is enough of them. */
class Json {
  text = '';

  constructor(private readonly most: Most) {}

  write(type: Type, value: unknown): void {
    if (value === undefined || value === null) this.text += 'null';
    else if (type.is === 'leaf') {
      const text = type.text(value as never, this.most.bytes);
      this.text += type.isBare ? text : JSON.stringify(text);
    } else if (type.is === 'list')
      this.writeAll('[]', value as unknown[], item => this.write(type.item, item));
    else if (type.is === 'struct')
      this.writeAll('{}', type.fields, (field, at) => {
        this.text += `${JSON.stringify(field.name)}:`;
        this.write(field.type, (value as Record<number, unknown>)[at]);
      });
    // As a struct of one list, since an object of JavaScript would change its keys.
    else
      this.writeAll('{}', (value as [[unknown, unknown][]])[0] ?? [], entry => {
        const key = textOf(type.key, entry[0], this.most);
        this.text += `${JSON.stringify(key ?? 'null')}:`;
        this.write(type.value, entry[1]);
      });
  }

  private writeAll<Item>(
    brackets: '[]' | '{}',
    items: readonly Item[],
    write: (item: Item, at: number) => void,
  ): void {
    this.text += brackets[0];
    for (const [at, item] of items.entries()) {
      if (this.text.length > this.most.characters) break;
      if (at) this.text += ',';
      write(item, at);
    }
    this.text += brackets[1];
  }
}
