/** The total size of a directory, computed on demand. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Total, totalOf } from '../../api/objects';
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
  const [found, setFound] = useState<Total>();
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const { run, isBusy, failure } = useAction(async () => {
    abort.current = new AbortController();
    setFound(await totalOf(repository, at, path, abort.current.signal, setFound));
  });
  const stop = () => {
    abort.current?.abort();
    setFound(undefined);
  };
  return (
    <span class="bar small" role="status">
      {found && (
        <span class="quiet">
          {countText(found.objects, 'object')}, {sizeText(found.size_bytes)}
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
