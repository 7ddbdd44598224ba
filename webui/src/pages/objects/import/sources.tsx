/** What an import takes from the object store, and where it goes: one fieldset for each source. */

import type { Schemas } from '../../../api/client';
import { Button } from '../../../parts/button';
import { SelectField, TextField } from '../../../parts/field';
import styles from './sources.module.css';

export type Source = Schemas['ImportLocation'];

const TYPES: { value: Source['type']; text: string; example: string; hint: string }[] = [
  {
    value: 'common_prefix',
    text: 'All objects with a prefix',
    example: 's3://bucket/folder/',
    hint: 'A folder. What it holds is replaced.',
  },
  {
    value: 'object',
    text: 'One object',
    example: 's3://bucket/folder/a.csv',
    hint: 'The path of the object.',
  },
  {
    value: 'inventory',
    text: 'An S3 Inventory report',
    example: 's3://bucket/report/manifest.json',
    hint: 'A folder. The whole key of each object follows. What it holds is replaced.',
  },
];

export function newSource(destination: string): Source {
  return { type: 'common_prefix', path: '', destination };
}

/** Return whether the source can be sent; the server checks the rest. */
export function isComplete({ type, path, destination }: Source): boolean {
  return isAddress(path) && (type !== 'object' || isObject(destination));
}

function isAddress(path: string): boolean {
  return /^s3:\/\/[^/]+/.test(path);
}

function isObject(destination: string): boolean {
  return Boolean(destination) && !destination.endsWith('/');
}

/** Return the folders that afterwards hold what was imported, and nothing else. */
export function replacedFolders(sources: readonly Source[]): string[] {
  const folders = sources.filter(({ type }) => type !== 'object');
  return [...new Set(folders.map(({ destination }) => destination.replace(/[^/]$/, '$&/')))];
}

interface SourcesProps {
  sources: readonly Source[];
  onSources: (sources: Source[]) => void;
  /** Where a further source goes at first. */
  directory: string;
}

export function Sources({ sources, onSources, directory }: SourcesProps) {
  return (
    <div class="stack">
      {sources.map((source, at) => (
        <fieldset class={`field ${styles.source}`} key={at}>
          <legend class="strong">{sources.length > 1 ? `Source ${at + 1}` : 'Source'}</legend>
          <SourceFields
            source={source}
            onSource={changed =>
              onSources(sources.map((each, index) => (index === at ? changed : each)))
            }
          />
          {sources.length > 1 && (
            <div>
              <Button
                isSmall
                icon="close"
                onClick={() => onSources(sources.filter((_, index) => index !== at))}
              >
                Remove source {at + 1}
              </Button>
            </div>
          )}
        </fieldset>
      ))}
      <div>
        <Button isSmall icon="plus" onClick={() => onSources([...sources, newSource(directory)])}>
          Add a source
        </Button>
      </div>
    </div>
  );
}

function SourceFields({ source, onSource }: { source: Source; onSource: (to: Source) => void }) {
  const { type, path, destination } = source;
  const kind = TYPES.find(({ value }) => value === type);
  return (
    <>
      <SelectField
        label="Take"
        options={TYPES}
        value={type}
        onText={value => onSource({ ...source, type: value as Source['type'] })}
      />
      <TextField
        label="Source URI"
        placeholder={kind?.example}
        problem={path && !isAddress(path) ? 'Begin with s3:// and the bucket' : undefined}
        value={path}
        onText={text => onSource({ ...source, path: text.trim() })}
      />
      <TextField
        label="Destination"
        hint={kind?.hint}
        problem={
          type === 'object' && path && !isObject(destination)
            ? 'An object needs a path, which does not end with /'
            : undefined
        }
        value={destination}
        onText={text => onSource({ ...source, destination: text })}
      />
    </>
  );
}
