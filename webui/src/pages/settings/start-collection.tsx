/** The dialog that starts a collection; before a real one, it tells what the last dry run found. */

import { useState } from 'preact/hooks';
import { answer, api, Failure } from '../../api/client';
import { useAction } from '../../api/resource';
import { Confirm, FormDialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { useRepository } from '../../parts/repository';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { amountText, type Run } from './collection-run';

interface StartProps {
  isDry: boolean;
  lastDry: Run | undefined;
  onStarted: () => void;
  onClose: () => void;
}

async function start(repository: string, dry_run: boolean, most?: number): Promise<void> {
  const body = { dry_run, maximum_deletions: most ?? null };
  await answer(
    api.POST('/repositories/{repository}/gc/runs', { params: { path: { repository } }, body }),
  );
  tell(dry_run ? 'The dry run has started.' : 'The clean-up has started.');
}

export function StartCollection({ isDry, ...rest }: StartProps) {
  return isDry ? <StartDry {...rest} /> : <StartReal {...rest} />;
}

function StartDry({ onStarted, onClose }: Omit<StartProps, 'isDry'>) {
  const { id: repository } = useRepository();
  const submit = useAction(async () => {
    await start(repository, true);
    onStarted();
    onClose();
  });
  return (
    <FormDialog title="Start a dry run?" action="Start a dry run" {...{ submit, onClose }}>
      <p>It reports what a clean-up would delete now. It deletes nothing.</p>
    </FormDialog>
  );
}

function StartReal({ lastDry, onStarted, onClose }: Omit<StartProps, 'isDry'>) {
  const { id: repository } = useRepository();
  const [text, setText] = useState('');
  const isGood = text === '' || /^[1-9]\d*$/.test(text);
  const act = async () => {
    if (!isGood) throw new Failure('Write the limit as a whole number, 1 or more.', 400);
    await start(repository, false, text ? Number(text) : undefined);
    onStarted();
  };
  return (
    <Confirm
      title="Delete expired objects from storage?"
      action="Clean up now"
      mustType={repository}
      {...{ act, onClose }}
    >
      <p>
        Every object of <b>{repository}</b> that no rule keeps is deleted from storage, for good.
      </p>
      {lastDry?.start_time !== undefined ? (
        <p>
          The last dry run (<Time at={lastDry.start_time} />) found{' '}
          <b>{amountText(lastDry.marked_objects ?? 0, lastDry.marked_bytes)}</b> to delete. It may
          be more by now.
        </p>
      ) : (
        <p>No dry run has shown what this would delete. Start one first.</p>
      )}
      <TextField
        label="Delete nothing if there are more objects than"
        hint="Leave it empty for the limit of this installation."
        inputmode="numeric"
        value={text}
        onText={setText}
        problem={isGood ? undefined : 'Write a whole number, 1 or more.'}
      />
    </Confirm>
  );
}
