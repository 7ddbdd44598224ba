/** Two refs compared: what one has that the other has not, and the way to merge it. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useResource } from '../../api/resource';
import { links } from '../../links';
import { useBranch } from '../../parts/branch';
import { RunningTask } from '../../parts/branch-task';
import { Button, LinkButton } from '../../parts/button';
import { type DiffKind, hasUncommitted, refsSource } from '../../parts/diff/source';
import { Diff } from '../../parts/diff/view';
import { CheckField } from '../../parts/field';
import { requiredApprovals, useRules } from '../../parts/protection';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { useSeen } from '../../parts/seen';
import { Empty, Notice, Skeleton } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { shortId } from '../../parts/words';
import { FirstSteps } from '../first-steps/steps';
import { Apart } from './apart';
import { MergeButton } from './merge';

const MERGE = '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}';
const CLEARED = { object: undefined, prefix: undefined, type: undefined };

export default function Compare() {
  const repository = useRepository();
  const destination = useCurrentRef();
  const [query, setQuery] = useQuery();
  const source = query.compare ?? '';
  const kind: DiffKind = query.dots === '2' ? 'two_dot' : 'three_dot';
  const [version, setVersion] = useState(0);
  const into = Boolean(useBranch(repository.id, destination).data);
  useTitle(`Compare ${shortId(source)} to ${shortId(destination)}`, repository.id);
  const changed = () => setVersion(version + 1);
  const canCompare = Boolean(source) && source !== destination;
  const seen = useSeen(repository.id, canCompare ? source : '', destination, version);
  const needsApprovals = requiredApprovals(useRules(repository.id).data, destination) > 0;
  const locked = repository.read_only
    ? 'The repository is read-only'
    : !into
      ? 'Only a branch can take a merge: choose one on the left'
      : needsApprovals
        ? `${destination} requires approvals: open a pull request`
        : undefined;
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
          label="Only changes since the common commit"
          isChecked={kind === 'three_dot'}
          onCheck={isOn => setQuery({ dots: isOn ? undefined : '2' }, true)}
        />
        <span class="push" />
        {canCompare && (
          <>
            <LinkButton
              kind={needsApprovals ? 'primary' : undefined}
              icon="pull"
              href={links.newPull(repository.id, source, destination)}
            >
              Open a pull request
            </LinkButton>
            <MergeButton
              key={`${destination} ${source}`}
              repository={repository.id}
              {...{ source, destination, locked }}
              heads={seen.heads}
              send={(body, header) => {
                const path = {
                  repository: repository.id,
                  sourceRef: source,
                  destinationBranch: destination,
                };
                return answer(api.POST(MERGE, { params: { path, header }, body }));
              }}
              onLook={changed}
              onDone={changed}
            />
          </>
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
                  title={`${shortId(destination)} already has everything in ${shortId(source)}`}
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

function NothingToCompare({ isSame }: { isSame: boolean }) {
  return (
    <Empty icon="compare" title={isSame ? 'Both are the same ref' : 'Choose what to compare'}>
      Left: merge into. Right: merge from. Branches, tags, commits and expressions such as{' '}
      <code>main~3</code> can be compared.
    </Empty>
  );
}
