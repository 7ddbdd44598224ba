/** Finds objects by any part of their paths, among the first thousands at a ref. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { eachPage } from '../../api/objects';
import { useAction } from '../../api/resource';
import { links } from '../../links';
import { Chooser } from '../../parts/chooser';
import { matchingPaths } from '../../parts/matching';
import { Problem } from '../../parts/state';
import { countText, integerText } from '../../parts/words';
import { iconOf } from './row';

const LISTED_MAX = 10_000;
const SHOWN = 50;

interface FinderProps {
  repository: string;
  at: string;
  onClose: () => void;
}

/** Load the paths at the ref, page by page, up to the limit. */
function usePaths(repository: string, at: string) {
  const [paths, setPaths] = useState<string[]>([]);
  const [isCut, setCut] = useState(false);
  const { run, isBusy, failure } = useAction(async (signal: AbortSignal) => {
    let found: string[] = [];
    for await (const page of eachPage(repository, at, '', signal)) {
      if (found.length >= LISTED_MAX) return setCut(true);
      found = [...found, ...page.map(({ path }) => path)];
      setPaths(found);
    }
  });
  useEffect(() => {
    const abort = new AbortController();
    run(abort.signal);
    return () => abort.abort();
  }, [repository, at]);
  return { paths, isCut, isBusy, failure };
}

export default function Finder({ repository, at, onClose }: FinderProps) {
  const { route } = useLocation();
  const [text, setText] = useState('');
  const { paths, isCut, isBusy, failure } = usePaths(repository, at);
  const found = matchingPaths(paths, text);
  const choices = found.slice(0, SHOWN).map(path => ({
    id: path,
    text: path,
    icon: iconOf(path),
    run: () => route(links.object(repository, at, path)),
  }));
  return (
    <Chooser
      title={`Find an object at ${at}`}
      label="A part of the path"
      {...{ text, choices, onClose }}
      onText={setText}
    >
      <p role="status">
        {countText(found.length, 'object')} of {integerText(paths.length)}
        {isBusy && ' so far…'}
        {isCut && `: only the first ${integerText(LISTED_MAX)} are searched`}
      </p>
      <Problem failure={failure?.name === 'AbortError' ? undefined : failure} />
    </Chooser>
  );
}
