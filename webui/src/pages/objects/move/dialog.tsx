/** Moves or copies an object or a folder inside its branch, without copying data. */

import { type Entry, isFolder } from '../../../api/objects';
import { Dialog } from '../../../parts/dialog';
import { MoveFolder } from './folder';
import { MoveObject } from './object';
import type { MoveProps } from './props';

type MoveDialogProps = Omit<MoveProps, 'source'> & { source: Entry };

export function MoveDialog({ source, ...props }: MoveDialogProps) {
  const { isCopy, onClose } = props;
  const Form = isFolder(source) ? MoveFolder : MoveObject;
  return (
    <Dialog title={`${isCopy ? 'Copy' : 'Move or rename'} ${source.path}`} onClose={onClose}>
      <Form {...props} source={source.path} />
    </Dialog>
  );
}
