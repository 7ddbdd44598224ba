/** Imports objects of the object store into a branch, without copying their data. */

import { useState } from 'preact/hooks';
import { answer, api, type Failure, failureOfAnswer } from '../../../api/client';
import { useAction } from '../../../api/resource';
import { links } from '../../../links';
import { LinkButton } from '../../../parts/button';
import { Dialog } from '../../../parts/dialog';
import { TextField } from '../../../parts/field';
import { Form } from '../../../parts/form';
import { HookProblem } from '../../../parts/hook-problem';
import { type Metadata, MetadataField, metadataOf } from '../../../parts/metadata-field';
import { Notice } from '../../../parts/state';
import { countText } from '../../../parts/words';
import { useWork, type Work, WorkView } from '../../../parts/work';
import type { Directory } from '../directory';
import { isComplete, newSource, replacedFolders, type Source, Sources } from './sources';

interface ImportProps {
  directory: Directory;
  onClose: () => void;
}

export function ImportDialog({ directory, onClose }: ImportProps) {
  const [id, setId] = useState('');
  return (
    <Dialog title={`Import into ${directory.ref}`} isWide onClose={onClose}>
      {id ? (
        <Started {...{ directory, id, onClose }} />
      ) : (
        <Asked {...{ directory, onClose }} onStarted={setId} />
      )}
    </Dialog>
  );
}

function Asked({
  directory,
  onClose,
  onStarted,
}: ImportProps & { onStarted: (id: string) => void }) {
  const { repository, ref: branch, path } = directory;
  const [sources, setSources] = useState<Source[]>([newSource(path)]);
  const [message, setMessage] = useState('');
  const [metadata, setMetadata] = useState<Metadata>([]);
  const submit = useAction(async () => {
    const commit = {
      message: message.trim(),
      metadata: metadataOf(metadata),
      allow_empty: false,
      date: null,
      force: false,
    };
    const { id } = await answer(
      api.POST('/repositories/{repository}/branches/{branch}/import', {
        params: { path: { repository, branch } },
        body: { paths: sources, commit, force: false },
      }),
    );
    onStarted(id);
  });
  const isReady = sources.every(isComplete);
  const replacesAll = isReady && replacedFolders(sources).includes('');
  return (
    <Form
      action={replacesAll ? `Replace everything on ${branch}` : 'Import'}
      kind={replacesAll ? 'danger' : 'primary'}
      {...{ submit, isReady, onClose }}
      problem={
        <>
          <HookProblem failure={submit.failure} repository={repository} />
          {isDirty(submit.failure) && (
            <div>
              <LinkButton href={links.changes(repository, branch)}>
                See the uncommitted changes
              </LinkButton>
            </div>
          )}
        </>
      }
    >
      <p class="quiet">
        The objects stay where they are: the branch gets a commit that names them. An object that is
        changed or deleted there changes here as well.
      </p>
      <Sources {...{ sources, directory: path }} onSources={setSources} />
      <Replaced {...{ sources, branch }} />
      <TextField
        label="Commit message"
        placeholder="Import objects"
        value={message}
        onText={setMessage}
      />
      <MetadataField rows={metadata} onRows={setMetadata} />
    </Form>
  );
}

function isDirty(failure: Failure | undefined): boolean {
  return failure?.status === 400 && /dirty branch/.test(failure.message);
}

/** Says which objects of the branch the import replaces. */
function Replaced({ sources, branch }: { sources: readonly Source[]; branch: string }) {
  const folders = replacedFolders(sources);
  if (!folders.length) return null;
  if (folders.includes(''))
    return (
      <Notice kind="warning">
        Without a destination, the import replaces everything on {branch}: all other objects are
        deleted there. What is committed stays in its commits.
      </Notice>
    );
  return (
    <Notice>
      Afterwards, {folders.join(', ')} holds the imported objects and nothing else. Everything
      outside stays.
    </Notice>
  );
}

interface Import extends Work {
  commit?: string;
}

function Started({ directory, id, onClose }: ImportProps & { id: string }) {
  const { repository, ref: branch } = directory;
  const params = { path: { repository, branch }, query: { id } };
  const work = useWork<Import>(id, async signal => {
    const status = await answer(
      api.GET('/repositories/{repository}/branches/{branch}/import', { params, signal }),
    );
    return {
      isEnded: status.completed || Boolean(status.error),
      failure: status.error && failureOfAnswer(400, status.error),
      done: status.ingested_objects,
      commit: status.commit?.id,
    };
  });
  const { done = 0, commit, failure } = work.data ?? {};
  const count = countText(done, 'object');
  return (
    <WorkView
      {...{ work, onClose }}
      label="Import"
      stop={async () => {
        await answer(api.DELETE('/repositories/{repository}/branches/{branch}/import', { params }));
      }}
    >
      {commit ? (
        <>
          {count} imported into {branch}.{' '}
          <a href={links.commit(repository, commit)}>See the commit</a>
        </>
      ) : failure ? (
        'Nothing was imported.'
      ) : (
        `${count} found so far…`
      )}
    </WorkView>
  );
}
