/** The dialog of uploads: what goes where, what is replaced, how far it is. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../../api/client';
import { stat } from '../../api/objects';
import { useResource } from '../../api/resource';
import { Button, CopyButton } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { Icon } from '../../parts/icon';
import { Notice, Progress } from '../../parts/state';
import { countText, sizeText } from '../../parts/words';
import { type Dropped, filesOfDrop, filesOfInput } from './dropped';
import { BucketRefuses, corsRule } from './transfer';
import {
  cancelAll,
  cancelUpload,
  clearEnded,
  isActive,
  isUploading,
  retryFailed,
  startUploads,
  type Upload,
  uploads,
} from './uploads';

interface UploadProps {
  repository: string;
  branch: string;
  directory: string;
  dropped: Dropped[];
  onClose: () => void;
}

/** Call `act` when the last of the uploads has ended, also of those that no dialog shows. */
export function useWhenUploaded(act: () => void): void {
  const wasUploading = useRef(isUploading.value);
  useEffect(() => {
    if (wasUploading.current && !isUploading.value) act();
    wasUploading.current = isUploading.value;
  }, [isUploading.value]);
}

export function UploadDialog(props: UploadProps) {
  const { repository, branch, onClose } = props;
  const [isChoosing, setChoosing] = useState(props.dropped.length > 0 || !uploads.value.length);
  const hasStarted = useRef(false);
  const close = () => {
    clearEnded();
    onClose();
  };
  return (
    <Dialog title={`Upload to ${repository}, branch ${branch}`} isWide onClose={close}>
      {isChoosing ? (
        <Choice
          {...props}
          dropped={hasStarted.current ? [] : props.dropped}
          onStarted={() => {
            hasStarted.current = true;
            setChoosing(false);
          }}
        />
      ) : (
        <Running onClose={close} onMore={() => setChoosing(true)} />
      )}
    </Dialog>
  );
}

const CHECKED_MAX = 100;

/** Return which of the targets exist already; only the first hundred are asked for. */
async function existing(repository: string, ref: string, paths: string[], signal: AbortSignal) {
  const found = await Promise.all(
    paths.slice(0, CHECKED_MAX).map(async path => {
      try {
        await stat({ repository, ref, path }, signal);
        return path;
      } catch (error) {
        if (error instanceof Failure && error.status === 404) return '';
        throw error;
      }
    }),
  );
  return found.filter(Boolean);
}

function Choice({
  repository,
  branch,
  directory,
  dropped,
  onStarted,
}: UploadProps & { onStarted: () => void }) {
  const [folder, setFolder] = useState(directory);
  const [files, setFiles] = useState(dropped);
  const prefix = folder && !folder.endsWith('/') ? `${folder}/` : folder;
  const targets = files.map(each => prefix + each.path);
  const replaced = useResource(['existing', repository, branch, targets], signal =>
    existing(repository, branch, targets, signal),
  );
  const add = (more: Dropped[]) => setFiles(old => [...old, ...more]);
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
        <ul class="upload-files" aria-label="Files to upload">
          {files.map(({ file, path }, index) => (
            <li class="bar" key={index}>
              <Icon name="file" />
              <input
                class="input grow"
                aria-label={`Target path of ${file.name}`}
                value={path}
                onInput={event => {
                  const to = event.currentTarget.value;
                  setFiles(files.map((each, at) => (at === index ? { file, path: to } : each)));
                }}
              />
              {replaced.data?.includes(targets[index] ?? '') && (
                <span class="badge amber">Replaces</span>
              )}
              <span class="small quiet number">{sizeText(file.size)}</span>
              <Button
                kind="ghost"
                isSmall
                icon="close"
                label={`Leave out ${path}`}
                onClick={() => setFiles(files.filter((_, at) => at !== index))}
              />
            </li>
          ))}
        </ul>
      )}
      {files.length > CHECKED_MAX && (
        <p class="small quiet">
          Only the first {CHECKED_MAX} targets are checked for objects that they replace.
        </p>
      )}
      <div class="actions">
        <Button
          kind="primary"
          icon="upload"
          disabled={!files.length || files.some(({ path }) => !path)}
          onClick={start}
        >
          Upload{' '}
          {files.length > 0 && `${countText(files.length, 'file')}, ${sizeText(total_bytes)}`}
        </Button>
      </div>
    </div>
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
      class="upload-target"
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

const STATES: Record<Upload['state'], string> = {
  waiting: 'Waiting',
  sending: 'Uploading',
  done: 'Uploaded',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function Running({ onClose, onMore }: { onClose: () => void; onMore: () => void }) {
  const all = uploads.value;
  const done = all.filter(each => each.state === 'done').length;
  const failed = all.filter(each => each.state === 'failed');
  const active = all.some(isActive);
  const isRefused = failed.some(each => each.failure instanceof BucketRefuses);
  return (
    <div class="form">
      <div class="bar" role="status">
        <span class="strong grow">
          {done} of {countText(all.length, 'file')} uploaded
          {failed.length > 0 && `, ${failed.length} failed`}
        </span>
        {failed.length > 0 && (
          <Button isSmall icon="refresh" onClick={retryFailed}>
            Retry failed
          </Button>
        )}
        {active && (
          <Button isSmall icon="stop" onClick={cancelAll}>
            Cancel all
          </Button>
        )}
      </div>
      {isRefused && <CorsRule />}
      <ul class="upload-files" aria-label="Uploads">
        {all.map(upload => (
          <li class="stack tight" key={upload.id}>
            <div class="bar">
              <span class="grow wrap-anywhere">{upload.path}</span>
              <span class="small quiet">
                {STATES[upload.state]}, {sizeText(upload.sent_bytes)} of{' '}
                {sizeText(upload.file.size)}
              </span>
              {isActive(upload) && (
                <Button
                  isSmall
                  kind="ghost"
                  icon="close"
                  label={`Cancel ${upload.path}`}
                  onClick={() => cancelUpload(upload)}
                />
              )}
            </div>
            {upload.state === 'sending' && (
              <Progress done={upload.sent_bytes} total={upload.file.size} label={upload.path} />
            )}
            {upload.failure && <p class="small upload-failure">{upload.failure.message}</p>}
          </li>
        ))}
      </ul>
      <div class="actions">
        <Button onClick={onMore}>Upload more</Button>
        <Button kind="primary" onClick={onClose}>
          {active ? 'Continue in the background' : 'Done'}
        </Button>
      </div>
    </div>
  );
}

function CorsRule() {
  const rule = corsRule();
  return (
    <Notice kind="warning">
      <div class="bar">
        <span class="grow">Set this CORS rule on the bucket, then retry.</span>
        <CopyButton text={rule} label="Copy the rule" />
      </div>
      <pre>{rule}</pre>
    </Notice>
  );
}
