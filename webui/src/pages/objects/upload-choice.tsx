/** Chooses files, and where each of them goes. */

import { useRef, useState } from 'preact/hooks';
import { exists, type Place } from '../../api/objects';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { TextField } from '../../parts/field';
import { Icon } from '../../parts/icon';
import { VirtualRows } from '../../parts/list';
import { useSettled } from '../../parts/settled';
import { Notice } from '../../parts/state';
import { countText, sizeText } from '../../parts/words';
import { type Dropped, filesOfDrop, filesOfInput } from './dropped';
import styles from './upload.module.css';
import { startUploads } from './uploads';

type Given = Dropped & { id: number };

export interface UploadProps {
  repository: string;
  branch: string;
  directory: string;
  dropped: Dropped[];
  onClose: () => void;
}

let count = 0;

/** Number the files, so that a row stays itself when others are left out. */
function identified(files: Dropped[]): Given[] {
  return files.map(each => {
    count += 1;
    return { ...each, id: count };
  });
}

/** Return the paths that are there more than once. */
function doubled(paths: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(paths.filter(path => seen.has(path) || !seen.add(path)));
}

export function Choice({
  repository,
  branch,
  directory,
  dropped,
  onStarted,
}: UploadProps & { onStarted: () => void }) {
  const [folder, setFolder] = useState(directory);
  const [files, setFiles] = useState(() => identified(dropped));
  const prefix = folder && !folder.endsWith('/') ? `${folder}/` : folder;
  const targets = files.map(each => prefix + each.path);
  const twice = doubled(targets);
  const add = (more: Dropped[]) => setFiles(old => [...old, ...identified(more)]);
  const total_bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const start = () => {
    startUploads(
      files.map(({ file }, index) => ({ repository, branch, file, path: targets[index] ?? '' })),
    );
    onStarted();
  };
  return (
    <div class="form">
      <Chooser onFiles={add} />
      <TextField
        label="To folder"
        hint="Empty for the root of the repository"
        value={folder}
        onText={setFolder}
      />
      {files.length > 0 && (
        <div class={`rows ${styles.files}`}>
          <VirtualRows
            items={files}
            label="Files to upload"
            keyOf={({ id }) => String(id)}
            row={(each, index) => (
              <Chosen
                given={each}
                target={{ repository, ref: branch, path: targets[index] ?? '' }}
                isDoubled={twice.has(targets[index] ?? '')}
                onPath={path => setFiles(files.with(index, { ...each, path }))}
                onRemove={() => setFiles(files.filter(other => other !== each))}
              />
            )}
          />
        </div>
      )}
      {twice.size > 0 && (
        <Notice kind="danger">
          Several files go to {[...twice][0]}
          {twice.size > 1 && ` and ${countText(twice.size - 1, 'other path')}`}: give each a path of
          its own, or leave all but one out.
        </Notice>
      )}
      <div class="actions">
        <Button
          kind="primary"
          icon="upload"
          disabled={!files.length || twice.size > 0 || files.some(({ path }) => !path)}
          title={files.some(({ path }) => !path) ? 'Each file needs a path' : undefined}
          onClick={start}
        >
          Upload{' '}
          {files.length > 0 && `${countText(files.length, 'file')}, ${sizeText(total_bytes)}`}
        </Button>
      </div>
    </div>
  );
}

interface ChosenProps {
  given: Given;
  target: Place;
  isDoubled: boolean;
  onPath: (path: string) => void;
  onRemove: () => void;
}

function Chosen({ given, target, isDoubled, onPath, onRemove }: ChosenProps) {
  const { file, path } = given;
  const asked = useSettled(target.path);
  const replaced = useResource(['replaced', target.repository, target.ref, asked], async signal =>
    asked ? exists({ ...target, path: asked }, signal) : false,
  );
  const isReplacing = replaced.data && asked === target.path;
  return (
    <>
      <input
        class="input grow"
        aria-label={`Target path of ${file.name}`}
        aria-invalid={isDoubled}
        value={path}
        onInput={event => onPath(event.currentTarget.value)}
      />
      {isDoubled && <span class="badge red">Path of another file</span>}
      {isReplacing && <span class="badge amber">Replaces</span>}
      <span class="small quiet number">{sizeText(file.size)}</span>
      <Button kind="ghost" isSmall icon="close" label={`Leave out ${path}`} onClick={onRemove} />
    </>
  );
}

function Chooser({ onFiles }: { onFiles: (files: Dropped[]) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    onFiles(filesOfInput(input.files));
    input.value = '';
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons are the way of the keyboard
    <div
      class={`bar ${styles.target}`}
      onDragOver={event => event.preventDefault()}
      onDrop={async event => {
        event.preventDefault();
        event.stopPropagation();
        if (event.dataTransfer) onFiles(await filesOfDrop(event.dataTransfer));
      }}
    >
      <Icon name="upload" />
      <span>Drop files and folders here, or</span>
      <Button isSmall onClick={() => files.current?.click()}>
        Choose files
      </Button>
      <Button isSmall onClick={() => folder.current?.click()}>
        Choose a folder
      </Button>
      <input ref={files} hidden type="file" multiple aria-label="Files" onChange={take} />
      <input
        ref={input => {
          folder.current = input;
          input?.setAttribute('webkitdirectory', '');
        }}
        hidden
        type="file"
        aria-label="Folder"
        onChange={take}
      />
    </div>
  );
}
