import { useEffect } from 'preact/hooks';
import { visible } from './words';

/** Name the page in the browser's tab and history. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, 'Graveler'].filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = visible(title);
  }, [title]);
}
