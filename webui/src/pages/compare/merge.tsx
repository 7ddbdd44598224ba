/** The dialog that merges a ref into a branch; conflicts are shown with a way to resolve them. */

import { useState } from 'preact/hooks';
import { answer, api, Failure } from '../../api/client';
import { useAction } from '../../api/resource';
import { RunningTask } from '../../parts/branch-task';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { AreaField, CheckField, SelectField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { type Metadata, MetadataField, metadataOf } from '../../parts/metadata-field';
import { isMoved } from '../../parts/seen';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { shortId } from '../../parts/words';
import { Conflicts } from './conflicts';
import { type Heads, mergeResolved, type Winners } from './resolve';

interface Options {
  strategy: string;
  squash_merge: boolean;
  allow_empty: boolean;
}

const PLAIN: Options = { strategy: '', squash_merge: false, allow_empty: false };

interface MergeProps {
  repository: string;
  source: string;
  destination: string;
  /** Fails if the source has moved since its changes were shown. */
  checkSeen: () => Promise<void>;
  onDone: () => void;
  onClose: () => void;
}

export function MergeDialog({
  repository,
  source,
  destination,
  checkSeen,
  onDone,
  onClose,
}: MergeProps) {
  const [message, setMessage] = useState('');
  const [metadata, setMetadata] = useState<Metadata>([]);
  const [options, setOptions] = useState(PLAIN);
  const [winners, setWinners] = useState<Winners>({});
  // Choices count for the conflicts that were seen; a refused merge shows the new ones.
  const [attempt, setAttempt] = useState(0);
  const finish = (commit: string) => {
    tell(`${shortId(source)} was merged into ${destination}: commit ${shortId(commit)}.`);
    onDone();
    onClose();
  };
  const { run, isBusy, failure } = useAction(async () => {
    await checkSeen();
    const result = await answer(
      api.POST('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
        params: { path: { repository, sourceRef: source, destinationBranch: destination } },
        body: {
          message: message.trim(),
          metadata: metadataOf(metadata),
          ...options,
          force: false,
        },
      }),
    );
    finish(result.reference);
  });
  const resolution = useAction(async (heads: Heads) => {
    try {
      const about = { message: message.trim(), metadata: metadataOf(metadata) };
      const squash = options.squash_merge;
      const refs = { repository, source, destination };
      finish(await mergeResolved({ ...refs, heads, winners, ...about, squash }));
    } catch (error) {
      if (error instanceof Failure && error.status === 409) {
        setWinners({});
        setAttempt(attempt + 1);
      }
      throw error;
    }
  });
  const isConflict = failure instanceof Failure && failure.status === 409;
  const isUndecided = isConflict && !options.strategy;
  return (
    <Dialog title={`Merge ${shortId(source)} into ${destination}`} isWide onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          run();
        }}
      >
        <AreaField
          label="Message"
          hint="Without one, the commit says what was merged."
          value={message}
          onText={setMessage}
          autofocus
        />
        <MetadataField rows={metadata} onRows={setMetadata} />
        <OptionFields {...{ source, destination, options }} onOptions={setOptions} />
        {isConflict ? (
          <>
            <Conflicts
              key={attempt}
              {...{ repository, source, destination, winners }}
              onWinners={setWinners}
              onMerge={resolution.run}
              isBusy={resolution.isBusy}
            />
            <HookProblem failure={resolution.failure} repository={repository} />
          </>
        ) : (
          <MergeProblem
            {...{ repository, failure }}
            onLook={() => {
              onDone();
              onClose();
            }}
          />
        )}
        {isBusy && <RunningTask repository={repository} branch={destination} isExpected />}
        <div class="actions">
          <Button onClick={onClose}>{isBusy ? 'Close; the work goes on' : 'Cancel'}</Button>
          <Button
            kind={isUndecided ? undefined : 'primary'}
            icon="merge"
            type="submit"
            isBusy={isBusy}
            disabled={isUndecided}
            title={isUndecided ? 'Choose whose objects win, above' : undefined}
          >
            Merge into {destination}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ProblemProps {
  repository: string;
  failure: Failure | undefined;
  onLook: () => void;
}

function MergeProblem({ repository, failure, onLook }: ProblemProps) {
  if (isMoved(failure)) return <Problem failure={failure} retry={onLook} action="Look again" />;
  return <HookProblem failure={failure} repository={repository} />;
}

interface OptionProps {
  source: string;
  destination: string;
  options: Options;
  onOptions: (options: Options) => void;
}

function OptionFields({ source, destination, options, onOptions }: OptionProps) {
  const put = (change: Partial<Options>) => onOptions({ ...options, ...change });
  const strategies = [
    { value: '', text: 'None: refuse the merge' },
    { value: 'source-wins', text: `Take those of ${shortId(source)} (source-wins)` },
    { value: 'dest-wins', text: `Keep those of ${destination} (dest-wins)` },
  ];
  return (
    <>
      <SelectField
        label="Objects that both changed"
        hint="The choice holds for conflicts only. Other changes of both sides are always kept."
        value={options.strategy}
        onText={strategy => put({ strategy })}
        options={strategies}
      />
      <CheckField
        label="Squash"
        hint={`The commits of ${shortId(source)} become one, and do not enter the log.`}
        isChecked={options.squash_merge}
        onCheck={squash_merge => put({ squash_merge })}
      />
      <CheckField
        label="Allow a merge without changes"
        isChecked={options.allow_empty}
        onCheck={allow_empty => put({ allow_empty })}
      />
    </>
  );
}
