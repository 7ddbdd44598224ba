/** Takes files and folders that are dropped anywhere on it. */

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { tell } from '../../parts/toast';
import { type Dropped, filesOfDrop } from './dropped';

interface DropZoneProps {
  isActive: boolean;
  onDrop: (dropped: Dropped[]) => void;
  children: ComponentChildren;
}

export function DropZone({ isActive, onDrop, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const depth = useRef(0);
  const enter = (by: number) => {
    depth.current = Math.max(0, depth.current + by);
    setOver(depth.current > 0);
  };
  const take = async (event: DragEvent) => {
    event.preventDefault();
    enter(-depth.current);
    if (!isActive)
      return tell('Nothing is uploaded: only a branch of a writable repository takes files');
    if (event.dataTransfer) onDrop(await filesOfDrop(event.dataTransfer));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button Upload is the way of the keyboard
    <div
      class={`drop-zone${isOver && isActive ? ' over' : ''}`}
      onDragEnter={() => enter(1)}
      onDragLeave={() => enter(-1)}
      onDragOver={event => event.preventDefault()}
      onDrop={take}
    >
      {children}
    </div>
  );
}
