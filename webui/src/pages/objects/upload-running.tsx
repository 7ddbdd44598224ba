/** How far the uploads are, and why some have failed. */

import { Button, CopyButton } from '../../parts/button';
import { VirtualRows } from '../../parts/list';
import { Notice, Progress } from '../../parts/state';
import { countText, integerText, sizeText, visible } from '../../parts/words';
import { BucketRefuses, corsRule } from './bucket';
import styles from './upload.module.css';
import {
  cancelAll,
  cancelUpload,
  counts,
  isActive,
  isUploading,
  retryFailed,
  type State,
  type Upload,
  uploads,
} from './uploads';

const STATES: Record<State, string> = {
  waiting: 'Waiting',
  sending: 'Uploading',
  done: 'Uploaded',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function Running({ onClose, onMore }: { onClose: () => void; onMore: () => void }) {
  const { done, failed } = counts.value;
  const active = isUploading.value;
  return (
    <div class="form">
      <div class="bar" role="status">
        <span class="strong grow">
          {integerText(done)} of {countText(uploads.value.length, 'file')} uploaded
          {failed > 0 && `, ${integerText(failed)} failed`}
        </span>
        {failed > 0 && (
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
      {failed > 0 && <Failures />}
      <div class={`rows ${styles.files}`}>
        <VirtualRows
          items={uploads.value}
          label="Uploads"
          keyOf={({ id }) => String(id)}
          row={upload => <One upload={upload} />}
        />
      </div>
      <div class="actions">
        <Button onClick={onMore}>Upload more</Button>
        <Button kind="primary" onClick={onClose}>
          {active ? 'Continue in the background' : 'Done'}
        </Button>
      </div>
    </div>
  );
}

function One({ upload }: { upload: Upload }) {
  const { path, file, status, sent_bytes } = upload;
  const { state } = status.value;
  return (
    <>
      <span class="grow cut" title={visible(path)}>
        {visible(path)}
      </span>
      <span class={`small number ${state === 'failed' ? styles.failed : 'quiet'}`}>
        {STATES[state]}, {state === 'sending' && `${sizeText(sent_bytes.value)} of `}
        {sizeText(file.size)}
      </span>
      {isActive(upload) && (
        <Button
          isSmall
          kind="ghost"
          icon="close"
          label={`Cancel ${path}`}
          onClick={() => cancelUpload(upload)}
        />
      )}
      {state === 'sending' && <Progress done={sent_bytes.value} total={file.size} label={path} />}
    </>
  );
}

const NAMED = 3;

/** Each reason once, with the files that it stopped. */
function Failures() {
  const paths = new Map<string, string[]>();
  let isRefused = false;
  for (const { path, status } of uploads.value) {
    const { failure } = status.value;
    if (!failure) continue;
    isRefused ||= failure instanceof BucketRefuses;
    const stopped = paths.get(failure.message);
    if (stopped) stopped.push(path);
    else paths.set(failure.message, [path]);
  }
  return (
    <>
      {[...paths].map(([message, stopped]) => (
        <Notice kind="danger" key={message}>
          {message}{' '}
          <span class="wrap-anywhere">
            ({stopped.slice(0, NAMED).join(', ')}
            {stopped.length > NAMED && ` and ${integerText(stopped.length - NAMED)} more`})
          </span>
        </Notice>
      ))}
      {isRefused && <CorsRule />}
    </>
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
