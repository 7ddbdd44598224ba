/** Draws an icon of the sprite `icons.svg`; its text, if any, is read aloud. */

import sprite from './icons.svg?url';

export type IconName =
  | 'repository'
  | 'folder'
  | 'file'
  | 'branch'
  | 'tag'
  | 'commit'
  | 'graph'
  | 'compare'
  | 'merge'
  | 'pull'
  | 'changes'
  | 'action'
  | 'task'
  | 'settings'
  | 'user'
  | 'group'
  | 'policy'
  | 'key'
  | 'search'
  | 'plus'
  | 'close'
  | 'check'
  | 'copy'
  | 'download'
  | 'upload'
  | 'trash'
  | 'more'
  | 'down'
  | 'right'
  | 'left'
  | 'up'
  | 'back'
  | 'undo'
  | 'refresh'
  | 'warning'
  | 'info'
  | 'link'
  | 'clock'
  | 'history'
  | 'lock'
  | 'sun'
  | 'moon'
  | 'export'
  | 'import'
  | 'play'
  | 'stop'
  | 'edit'
  | 'eye'
  | 'table'
  | 'layers'
  | 'image'
  | 'logout'
  | 'help'
  | 'filter'
  | 'code';

export function Icon({ name, label }: { name: IconName; label?: string }) {
  return (
    <svg
      class="icon"
      role={label ? 'img' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : 'true'}
    >
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
