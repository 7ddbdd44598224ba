/** Moves or copies an object or a folder inside its branch, without copying data. */

import { Dialog } from '../../../parts/dialog';
import { MoveFolder } from './folder';
import { MoveObject } from './object';

export interface MoveProps {
  repository: string;
  branch: string;
  /** A path, or the prefix of a folder, which ends with a slash. */
  source: string;
  isCopy: boolean;
  onClose: () => void;
  /** Told where an object is now; folders may still be on their way when the dialog closes. */
  onMoved?: (target: string) => void;
}

export function MoveDialog(props: MoveProps) {
  const { source, isCopy, onClose } = props;
  const Form = source.endsWith('/') ? MoveFolder : MoveObject;
  return (
    <Dialog title={`${isCopy ? 'Copy' : 'Move or rename'} ${source}`} onClose={onClose}>
      <Form {...props} />
    </Dialog>
  );
}
