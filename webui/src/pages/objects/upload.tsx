/** The dialog of uploads: what goes where, what is replaced, how far it is. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog';
import { Choice, type UploadProps } from './upload-choice';
import { Running } from './upload-running';
import { clearEnded, isUploading, uploads } from './uploads';

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
