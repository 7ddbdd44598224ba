/** What is moved or copied, and who is told of it. */

export interface MoveProps {
  repository: string;
  branch: string;
  /** The path of an object, or the prefix of a folder. */
  source: string;
  isCopy: boolean;
  onClose: () => void;
  /** Told where an object is now; folders may still be on their way when the dialog closes. */
  onMoved?: (target: string) => void;
}
