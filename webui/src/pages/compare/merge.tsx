/** The dialog that merges a ref into a branch; conflicts are shown with a way to resolve them. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction } from '../../api/resource';
import { RunningTask } from '../../parts/branch-task';
import { FormDialog } from '../../parts/dialog';
import { AreaField, CheckField, SelectField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { type Metadata, MetadataField, metadataOf } from '../../parts/metadata-field';
import { type Heads, ifUnmoved, isMoved, onlyAt } from '../../parts/seen';
import { Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { shortId } from '../../parts/words';
import { Conflicts, type Resolutions } from './conflicts';

interface Options {
  strategy: string;
  squash_merge: boolean;
  allow_empty: boolean;
}

/** What the user has written and chosen. */
export interface Draft {
  message: string;
  metadata: Metadata;
  options: Options;
}

export const NO_DRAFT: Draft = {
  message: '',
  metadata: [],
  options: { strategy: '', squash_merge: false, allow_empty: false },
};

interface MergeProps {
  repository: string;
  source: string;
  destination: string;
  /** The commits whose changes were shown. */
  heads: Heads | undefined;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Show the commits as they are now. */
  onLook: () => void;
  /** Close, but keep the draft. */
  onHide: () => void;
  onDone: () => void;
  onClose: () => void;
}

export function MergeDialog(props: MergeProps) {
  const { repository, source, destination, heads, draft, onDraft } = props;
  const { onLook, onHide, onDone, onClose } = props;
  const { message, metadata, options } = draft;
  const put = (change: Partial<Draft>) => onDraft({ ...draft, ...change });
  const [chosen, setChosen] = useState<Resolutions>({});
  const [isConflict, setConflict] = useState(false);
  const submit = useAction(async (resolutions: Resolutions) => {
    const path = { repository, sourceRef: source, destinationBranch: destination };
    const header = onlyAt(heads?.destination_commit_id);
    const request = api.POST(
      '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
      {
        params: { path, header },
        body: {
          message: message.trim(),
          metadata: metadataOf(metadata),
          ...options,
          force: false,
          resolutions,
          source_commit_id: heads?.source_commit_id ?? null,
        },
      },
    );
    const { reference } = await ifUnmoved(answer(request)).catch(error => {
      if (error.status === 409) setConflict(true);
      // The conflicts that are shown are then those of the new commits.
      if (isConflict && isMoved(error)) onLook();
      throw error;
    });
    tell(`${shortId(source)} was merged into ${destination}: commit ${shortId(reference)}.`);
    onDone();
    onClose();
  });
  const { run, isBusy, failure } = submit;
  const isUndecided = isConflict && !options.strategy;
  const problem = isMoved(failure) ? (
    <Problem
      failure={failure}
      action="Look again"
      retry={() => {
        onLook();
        onHide();
      }}
    />
  ) : (
    <HookProblem {...{ failure, repository }} />
  );
  return (
    <FormDialog
      title={`Merge ${shortId(source)} into ${destination}`}
      isWide
      action={`Merge into ${destination}`}
      icon="merge"
      submit={{ ...submit, run: () => run({}) }}
      isReady={!isUndecided}
      reason="Choose whose objects win, above"
      cancel={isBusy ? 'Close; the work goes on' : undefined}
      onClose={onClose}
      problem={isConflict ? null : problem}
    >
      <AreaField
        label="Message"
        hint="Without one, the commit says what was merged."
        value={message}
        onText={text => put({ message: text })}
        autofocus
      />
      <MetadataField rows={metadata} onRows={rows => put({ metadata: rows })} />
      <OptionFields {...{ source, destination, options }} onOptions={options => put({ options })} />
      {isConflict && heads && (
        <Conflicts
          {...{ repository, source, destination, heads, chosen, isBusy }}
          onChosen={setChosen}
          onMerge={run}
        >
          {failure?.status !== 409 && <HookProblem {...{ failure, repository }} />}
        </Conflicts>
      )}
      {isBusy && <RunningTask repository={repository} branch={destination} isExpected />}
    </FormDialog>
  );
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
