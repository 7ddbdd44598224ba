/** Two refs compared: what one has that the other has not, and the way to merge it. */

import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { useBranch } from '../../parts/branch';
import { RunningTask } from '../../parts/branch-task';
import { Button, LinkButton } from '../../parts/button';
import { type DiffKind, hasUncommitted, refsSource } from '../../parts/diff/source';
import { Diff } from '../../parts/diff/view';
import { CheckField } from '../../parts/field';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { useSeen } from '../../parts/seen';
import { Empty, Notice, Skeleton } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { shortId } from '../../parts/words';
import { FirstSteps } from '../first-steps/steps';
import { Apart } from './apart';
import { type Draft, MergeDialog, NO_DRAFT } from './merge';

const CLEARED = { object: undefined, prefix: undefined, type: undefined };

export default function Compare() {
  const repository = useRepository();
  const destination = useCurrentRef();
  const [query, setQuery] = useQuery();
  const source = query.compare ?? '';
  const kind: DiffKind = query.dots === '2' ? 'two_dot' : 'three_dot';
  const [isMerging, setMerging] = useState(false);
  const [draft, setDraft] = useState<Draft>(NO_DRAFT);
  const [version, setVersion] = useState(0);
  useEffect(() => setDraft(NO_DRAFT), [source, destination]);
  const into = Boolean(useBranch(repository.id, destination).data);
  useTitle(`Compare ${shortId(source)} to ${shortId(destination)}`, repository.id);
  const changed = () => setVersion(version + 1);
  const canCompare = Boolean(source) && source !== destination;
  const seen = useSeen(repository.id, canCompare ? source : '', destination, version);
  const locked = repository.read_only
    ? 'The repository is read-only'
    : into
      ? undefined
      : 'Only a branch can take a merge: choose one on the left';
  return (
    <div class="stack">
      <h1 class="visually-hidden">Compare</h1>
      <div class="bar">
        <RefPicker
          repository={repository.id}
          value={destination}
          label="Into"
          onChoose={ref => setQuery({ ref, ...CLEARED })}
        />
        <Button
          kind="ghost"
          icon="compare"
          label="Swap the two"
          disabled={!source}
          onClick={() => setQuery({ ref: source, compare: destination, ...CLEARED })}
        />
        <RefPicker
          repository={repository.id}
          value={source}
          label="Changes of"
          onChoose={compare => setQuery({ ref: destination, compare, ...CLEARED })}
        />
        <CheckField
          label="Since they parted"
          isChecked={kind === 'three_dot'}
          onCheck={isOn => setQuery({ dots: isOn ? undefined : '2' }, true)}
        />
        <span class="push" />
        {canCompare && (
          <MergeTools
            source={source}
            destination={destination}
            locked={locked}
            onMerge={() => setMerging(true)}
          />
        )}
      </div>
      <FirstSteps version={version} />
      {into && <RunningTask repository={repository.id} branch={destination} onEnd={changed} />}
      {canCompare ? (
        <>
          <Apart
            key={`${destination} ${source} ${version}`}
            repository={repository.id}
            destination={destination}
            source={source}
          />
          <LeftOut key={`${source} ${version} left out`} {...{ source }} />
          {seen.isAsked ? (
            <Diff
              key={`${destination} ${source} ${kind}`}
              source={refsSource(repository.id, destination, source, kind)}
              version={version}
              empty={
                <Empty
                  icon="check"
                  title={`${shortId(source)} has nothing that ${shortId(destination)} has not`}
                >
                  Swap the two to look in the other direction.
                </Empty>
              }
            />
          ) : (
            <Skeleton lines={5} />
          )}
        </>
      ) : (
        <NothingToCompare isSame={Boolean(source)} />
      )}
      {isMerging && (
        <MergeDialog
          repository={repository.id}
          source={source}
          destination={destination}
          heads={seen.heads}
          draft={draft}
          onDraft={setDraft}
          onLook={changed}
          onDone={changed}
          onHide={() => setMerging(false)}
          onClose={() => {
            setDraft(NO_DRAFT);
            setMerging(false);
          }}
        />
      )}
    </div>
  );
}

/** Says that the source has uncommitted changes, which a merge leaves out. */
function LeftOut({ source }: { source: string }) {
  const { id: repository } = useRepository();
  const isBranch = Boolean(useBranch(repository, source).data);
  const { data } = useResource(['left out', repository, source, isBranch], async signal =>
    isBranch ? hasUncommitted(repository, source, signal) : false,
  );
  if (!data) return null;
  return (
    <Notice kind="warning">
      {source} has uncommitted changes, which a comparison and a merge leave out.{' '}
      <a href={links.changes(repository, source)}>See them</a>
    </Notice>
  );
}

interface MergeToolsProps {
  source: string;
  destination: string;
  /** Why nothing can be merged. */
  locked: string | undefined;
  onMerge: () => void;
}

function MergeTools({ source, destination, locked, onMerge }: MergeToolsProps) {
  const repository = useRepository();
  return (
    <>
      <LinkButton icon="pull" href={links.newPull(repository.id, source, destination)}>
        Open a pull request
      </LinkButton>
      <Button
        kind="primary"
        icon="merge"
        disabled={Boolean(locked)}
        title={locked}
        onClick={onMerge}
      >
        Merge…
      </Button>
    </>
  );
}

function NothingToCompare({ isSame }: { isSame: boolean }) {
  return (
    <Empty icon="compare" title={isSame ? 'Both are the same ref' : 'Choose what to compare'}>
      The left ref takes the changes, the right one brings them. Branches, tags, commits and
      expressions such as <code>main~3</code> can be compared.
    </Empty>
  );
}
