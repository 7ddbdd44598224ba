/** Takes files and folders that are dropped anywhere on the page. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { tell } from '../../parts/toast';
import styles from './drop.module.css';
import { type Dropped, filesOfDrop } from './dropped';

interface DropZoneProps {
  isActive: boolean;
  onDrop: (dropped: Dropped[]) => void;
  children: ComponentChildren;
}

type DragKind = 'dragenter' | 'dragleave' | 'dragover' | 'drop';

/** Whether files are dragged: text and links are no matter of ours. */
const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function DropZone({ isActive, onDrop, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const latest = useRef({ isActive, onDrop });
  latest.current = { isActive, onDrop };
  useEffect(() => {
    let depth = 0; // a drag enters a part before it leaves the one around
    const enter = (by: number) => {
      depth = Math.max(0, depth + by);
      setOver(depth > 0);
    };
    const take = async (event: DragEvent) => {
      if (!event.dataTransfer) return;
      event.preventDefault(); // a browser would leave the page, and show the file
      if (!latest.current.isActive)
        return tell('Nothing is uploaded: only a branch of a writable repository takes files');
      latest.current.onDrop(await filesOfDrop(event.dataTransfer));
    };
    const stop = new AbortController();
    const listen = (kind: DragKind, act: (event: DragEvent) => void, isFirst = false) => {
      const options = { signal: stop.signal, capture: isFirst };
      addEventListener(kind, event => hasFiles(event) && act(event), options);
    };
    listen('dragenter', () => enter(1));
    listen('dragleave', () => enter(-1));
    listen('dragover', event => event.preventDefault());
    listen('drop', () => enter(-depth), true); // also of what a dialog takes
    listen('drop', take);
    return () => stop.abort();
  }, []);
  return <div class={`${styles.zone} ${isOver && isActive ? styles.over : ''}`}>{children}</div>;
}
