import { useEffect } from 'preact/hooks';

/** Name the page in the browser's tab and history. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, 'Graveler'].filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
