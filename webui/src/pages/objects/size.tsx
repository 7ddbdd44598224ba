/** The total size of a directory, computed on demand by listing all of it. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { eachPage } from '../../api/objects';
import { useAction } from '../../api/resource';
import { Button } from '../../parts/button';
import { Problem } from '../../parts/state';
import { countText, sizeText } from '../../parts/words';

interface SizeProps {
  repository: string;
  at: string;
  path: string;
}

export function DirectorySize({ repository, at, path }: SizeProps) {
  const [found, setFound] = useState<{ count: number; size_bytes: number }>();
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const { run, isBusy, failure } = useAction(async () => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    let count = 0;
    let size_bytes = 0;
    for await (const page of eachPage(repository, at, path, signal)) {
      if (signal.aborted) return;
      count += page.length;
      size_bytes += page.reduce((sum, item) => sum + item.size_bytes, 0);
      setFound({ count, size_bytes });
    }
  });
  const stop = () => {
    abort.current?.abort();
    setFound(undefined);
  };
  return (
    <span class="bar small" role="status">
      {found && (
        <span class="quiet">
          {countText(found.count, 'object')}, {sizeText(found.size_bytes)}
          {isBusy && ' so far'}
        </span>
      )}
      {isBusy && (
        <Button isSmall icon="stop" onClick={stop}>
          Stop
        </Button>
      )}
      {!isBusy && !found && (
        <Button isSmall kind="ghost" onClick={run}>
          Compute size
        </Button>
      )}
      {failure?.name !== 'AbortError' && <Problem failure={failure} retry={run} />}
    </span>
  );
}
