/** The dialog that commits what is staged on a branch. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction } from '../../api/resource';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { FormDialog } from '../../parts/dialog';
import { AreaField, CheckField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { type Metadata, MetadataField, metadataOf } from '../../parts/metadata-field';
import { Pending } from './pending';

interface CommitProps {
  repository: string;
  branch: string;
  onDone: (commit: string) => void;
  onClose: () => void;
}

export function CommitDialog({ repository, branch, onDone, onClose }: CommitProps) {
  const [message, setMessage] = useState('');
  const [metadata, setMetadata] = useState<Metadata>([]);
  const [isEmptyAllowed, setEmptyAllowed] = useState(false);
  const submit = useAction(async () => {
    const commit = await answer(
      api.POST('/repositories/{repository}/branches/{branch}/commits', {
        params: { path: { repository, branch } },
        body: {
          message: message.trim(),
          metadata: metadataOf(metadata),
          allow_empty: isEmptyAllowed,
          date: null,
          force: false,
        },
      }),
    );
    onDone(commit.id);
    onClose();
  });
  const { isBusy, failure } = submit;
  return (
    <FormDialog
      title={`Commit to ${branch}`}
      action="Commit"
      isReady={Boolean(message.trim())}
      cancel={isBusy ? 'Close; the work goes on' : undefined}
      {...{ submit, onClose }}
      problem={
        <>
          <HookProblem failure={failure} repository={repository} />
          {failure?.status === 0 && (
            <p>
              If it was made, it is the newest of the{' '}
              <a href={links.commits(repository, branch)}>commits of {branch}</a>.
            </p>
          )}
        </>
      }
    >
      <Pending {...{ repository, branch }} />
      <AreaField
        label="Message"
        hint="What changed, and why. The first line shows in lists."
        value={message}
        onText={setMessage}
        required
        autofocus
      />
      <MetadataField rows={metadata} onRows={setMetadata} />
      <CheckField
        label="Allow a commit without changes"
        isChecked={isEmptyAllowed}
        onCheck={setEmptyAllowed}
      />
      {isBusy && <RunningTask repository={repository} branch={branch} isExpected />}
      <a class="small quiet" href={links.tasks(repository)} hidden={!isBusy}>
        Long work shows on the page of tasks
      </a>
    </FormDialog>
  );
}
