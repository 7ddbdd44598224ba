/** In place of an object that is not at the ref: who deleted it, and its last version. */

import { useState } from 'preact/hooks';
import { answer, api, NO_DATA, type Schemas } from '../../api/client';
import { hasData, type Place } from '../../api/objects';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { Button, LinkButton } from '../../parts/button';
import { Empty, Problem, Skeleton } from '../../parts/state';
import { Time } from '../../parts/time';
import { shortId, sizeText, titleOf } from '../../parts/words';
import { RestoreDialog } from './restore/dialog';
import { versionOf } from './restore/plan';

type Change = Schemas['ObjectChangeRow'];

interface DeletedProps {
  place: Place;
  onRestored: () => void;
}

/** Return the last change of the object in the commits of the ref, if there was one. */
async function lastChange({ repository, ref, path }: Place, signal: AbortSignal) {
  let after = '';
  for (;;) {
    const params = { path: { repository, ref }, query: { path, after, amount: 1 } };
    const { results, pagination } = await answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/history', { params, signal }),
    );
    if (results.length || !pagination.has_more) return results[0];
    after = pagination.next_offset; // a search that takes long answers with empty pages
  }
}

export function DeletedObject({ place, onRestored }: DeletedProps) {
  const { repository, ref, path } = place;
  const [isRestoring, setRestoring] = useState(false);
  const { data, failure, reload } = useResource(['deleted', place], async signal => {
    const change = await lastChange(place, signal);
    if (!change) return {};
    const version = versionOf(repository, path, change.commit, change.type);
    return { change, version, isThere: await hasData(version, signal) };
  });
  if (failure) return <Problem failure={failure} retry={reload} />;
  if (!data)
    return (
      <>
        <p class="small quiet" role="status">
          Searching the commits of {shortId(ref)} for this object…
        </p>
        <Skeleton />
      </>
    );
  const { change, version, isThere } = data;
  if (!change || !version)
    return (
      <Empty
        icon="file"
        title={`There is no such object at ${shortId(ref)}`}
        actions={<LinkButton href={links.objects(repository, ref)}>All objects</LinkButton>}
      >
        No commit of this ref has it. It may exist at another ref.
      </Empty>
    );
  return (
    <>
      <Empty
        icon="trash"
        title={`This object is deleted ${change.type === 'removed' ? 'at' : 'on'} ${shortId(ref)}`}
        actions={
          <>
            {isThere && (
              <>
                <Button kind="primary" icon="undo" onClick={() => setRestoring(true)}>
                  Restore to branch…
                </Button>
                <LinkButton icon="eye" href={links.object(repository, version.ref, path)}>
                  Open its last version
                </LinkButton>
              </>
            )}
            <LinkButton icon="history" href={links.history(repository, ref, path)}>
              Its history
            </LinkButton>
          </>
        }
      >
        <Deletion repository={repository} change={change} /> Its last version has{' '}
        {sizeText(change.size_bytes)}. {!isThere && NO_DATA}
      </Empty>
      {isRestoring && (
        <RestoreDialog
          version={version}
          onClose={() => setRestoring(false)}
          onRestored={onRestored}
        />
      )}
    </>
  );
}

/** Says when and by whom the object was deleted. */
function Deletion({ repository, change }: { repository: string; change: Change }) {
  const { id, committer, creation_date } = change.commit;
  const commit = <a href={links.commit(repository, id)}>{titleOf(change.commit)}</a>;
  if (change.type !== 'removed')
    return <>The deletion is not committed yet. The last commit that changed it is {commit}.</>;
  return (
    <>
      {committer} deleted it <Time at={creation_date} /> in the commit {commit}.
    </>
  );
}
