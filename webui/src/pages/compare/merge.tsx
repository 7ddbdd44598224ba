/** Merges a ref into a branch: a button, and its dialog, which shows conflicts with a way to resolve them. */

import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client';
import { useAction } from '../../api/resource';
import { RunningTask } from '../../parts/branch-task';
import { Button } from '../../parts/button';
import { FormDialog } from '../../parts/dialog';
import { AreaField, CheckField } from '../../parts/field';
import { HookProblem } from '../../parts/hook-problem';
import { type Metadata, MetadataField, metadataOf } from '../../parts/metadata-field';
import { type Heads, ifUnmoved, isMoved, onlyAt } from '../../parts/seen';
import { Notice, Problem } from '../../parts/state';
import { tell } from '../../parts/toast';
import { shortId } from '../../parts/words';
import { Conflicts, type Resolutions, resolutionsOf, undecided, useConflicts } from './conflicts';

/** What the user has written and chosen. */
interface Draft {
  message: string;
  metadata: Metadata;
  chosen: Resolutions;
  options: { strategy: string; squash_merge: boolean; allow_empty: boolean };
}

const NO_DRAFT: Draft = {
  message: '',
  metadata: [],
  chosen: {},
  options: { strategy: '', squash_merge: false, allow_empty: false },
};

type SendMerge = (
  body: Schemas['Merge'],
  header: ReturnType<typeof onlyAt>,
) => Promise<{ reference: string }>;

interface MergeProps {
  repository: string;
  source: string;
  destination: string;
  /** The commits whose changes were shown. */
  heads: Heads | undefined;
  /** Ask the server for the merge. */
  send: SendMerge;
  /** Show the commits as they are now. */
  onLook: () => void;
  onDone: () => void;
}

interface ButtonProps extends MergeProps {
  /** Why nothing can be merged. */
  locked: string | undefined;
}

/** What is written in the dialog stays while its user looks at new commits. */
export function MergeButton({ locked, ...merge }: ButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState<Draft>(NO_DRAFT);
  return (
    <>
      <Button
        kind="primary"
        icon="merge"
        disabled={Boolean(locked)}
        title={locked}
        onClick={() => setOpen(true)}
      >
        Merge…
      </Button>
      {isOpen && (
        <MergeDialog
          {...merge}
          draft={draft}
          onDraft={setDraft}
          onHide={() => setOpen(false)}
          onClose={() => {
            setDraft(NO_DRAFT);
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

interface DialogProps extends MergeProps {
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Close, but keep the draft. */
  onHide: () => void;
  onClose: () => void;
}

function MergeDialog({ send, onLook, onDone, ...props }: DialogProps) {
  const { repository, source, destination, heads, draft, onDraft, onHide, onClose } = props;
  const { message, metadata, options, chosen } = draft;
  const put = (change: Partial<Draft>) => onDraft({ ...draft, ...change });
  const conflicts = useConflicts(repository, heads);
  const found = conflicts.data;
  const hasConflicts = Boolean(found?.rows.length);
  const isUndecided = Boolean(found && !options.strategy && undecided(found, chosen));
  const submit = useAction(async () => {
    const header = onlyAt(heads?.destination_commit_id);
    const body = {
      message: message.trim(),
      metadata: metadataOf(metadata),
      ...options,
      force: false,
      resolutions: found && !options.strategy ? resolutionsOf(found, chosen) : {},
      source_commit_id: heads?.source_commit_id ?? null,
    };
    const { reference } = await ifUnmoved(send(body, header)).catch(error => {
      // The conflicts that are shown are then those of the new commits.
      if (hasConflicts && isMoved(error)) onLook();
      throw error;
    });
    tell(`${shortId(source)} was merged into ${destination}: commit ${shortId(reference)}.`);
    onDone();
    onClose();
  });
  const { isBusy, failure } = submit;
  const problem =
    failure?.status === 409 ? (
      <Notice kind="danger">
        Nothing was merged: both sides changed the same objects in different ways.
      </Notice>
    ) : isMoved(failure) && !hasConflicts ? (
      <Problem
        failure={failure}
        action="Look again"
        retry={() => {
          onLook();
          onHide();
        }}
      />
    ) : isMoved(failure) ? (
      <Notice kind="danger">{failure?.message} The conflicts are shown as they are now.</Notice>
    ) : (
      <HookProblem {...{ failure, repository }} />
    );
  return (
    <FormDialog
      title={`Merge ${shortId(source)} into ${destination}`}
      isWide
      action={`Merge into ${destination}`}
      icon="merge"
      {...{ submit, problem, onClose }}
      isReady={!isUndecided}
      reason="Choose whose objects win, above"
      cancel={isBusy ? 'Close; the work goes on' : undefined}
    >
      {conflicts.isLoading && <p class="small quiet">Looking for conflicts…</p>}
      <Problem failure={conflicts.failure} retry={conflicts.reload} />
      {found && heads && hasConflicts && (
        <Conflicts
          {...{ repository, source, destination, heads, found, chosen }}
          strategy={options.strategy}
          onStrategy={strategy => put({ options: { ...options, strategy } })}
          onChosen={chosen => put({ chosen })}
        />
      )}
      <AreaField
        label="Message"
        hint={`Optional. Default: “Merge '${shortId(source)}' into '${destination}'”`}
        value={message}
        onText={text => put({ message: text })}
        autofocus
      />
      <MetadataField rows={metadata} onRows={rows => put({ metadata: rows })} />
      <CheckField
        label="Squash"
        hint={`Add one commit instead of all of those of ${shortId(source)}.`}
        isChecked={options.squash_merge}
        onCheck={squash_merge => put({ options: { ...options, squash_merge } })}
      />
      <CheckField
        label="Allow a merge without changes"
        isChecked={options.allow_empty}
        onCheck={allow_empty => put({ options: { ...options, allow_empty } })}
      />
      {isBusy && <RunningTask repository={repository} branch={destination} isExpected />}
    </FormDialog>
  );
}
