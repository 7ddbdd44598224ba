/** The uncommitted changes of a branch: see them, commit them, undo them. */

import { useState } from 'preact/hooks';
import { links } from '../../links';
import { RunningTask } from '../../parts/branch-task';
import { Button, LinkButton } from '../../parts/button';
import { type DiffRow, uncommittedSource } from '../../parts/diff/source';
import { Diff } from '../../parts/diff/view';
import { isProtected, useRules } from '../../parts/protection';
import { useQuery } from '../../parts/query';
import { RefPicker } from '../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../parts/repository';
import { Empty, Notice } from '../../parts/state';
import { useTitle } from '../../parts/title';
import { FirstSteps } from '../first-steps/steps';
import { CommitDialog } from './commit-dialog';
import { Committed } from './committed';
import { Reset } from './reset';

export default function Changes() {
  const repository = useRepository();
  const branch = useCurrentRef();
  const [, setQuery] = useQuery();
  const [isCommitting, setCommitting] = useState(false);
  const [resetting, setResetting] = useState<DiffRow | 'all'>();
  const [committed, setCommitted] = useState<{ branch: string; commit: string }>();
  const [version, setVersion] = useState(0);
  useTitle(`Uncommitted changes of ${branch}`, repository.id);
  const changed = () => setVersion(version + 1);
  const rules = useRules(repository.id);
  const locked = repository.read_only ? 'The repository is read-only' : undefined;
  const undo = (row: DiffRow) => (
    <Button
      kind="ghost"
      isSmall
      icon="undo"
      label={`Undo the changes of ${row.path}`}
      disabled={Boolean(locked)}
      onClick={() => setResetting(row)}
    />
  );
  return (
    <div class="stack">
      <h1 class="visually-hidden">Uncommitted changes of {branch}</h1>
      <div class="bar">
        <RefPicker
          repository={repository.id}
          value={branch}
          kinds={['branch']}
          label="Branch"
          onChoose={ref => setQuery({ ref, object: undefined, prefix: undefined })}
        />
        <Button icon="refresh" label="Look again" kind="ghost" onClick={changed} />
        <span class="push bar">
          <Button
            icon="undo"
            disabled={Boolean(locked)}
            title={locked}
            onClick={() => setResetting('all')}
          >
            Undo all…
          </Button>
          <Button
            kind="primary"
            icon="commit"
            disabled={Boolean(locked)}
            title={locked}
            onClick={() => setCommitting(true)}
          >
            Commit…
          </Button>
        </span>
      </div>
      <FirstSteps version={version} />
      {isProtected(rules.data, branch) && <Protected {...{ repository: repository.id, branch }} />}
      {committed?.branch === branch && <Committed {...committed} />}
      <RunningTask repository={repository.id} branch={branch} onEnd={changed} />
      <Diff
        key={branch}
        source={uncommittedSource(repository.id, branch)}
        version={version}
        rowActions={undo}
        empty={<Clean repository={repository.id} branch={branch} />}
      />
      {isCommitting && (
        <CommitDialog
          repository={repository.id}
          branch={branch}
          onDone={commit => {
            setCommitted({ branch, commit });
            changed();
          }}
          onClose={() => setCommitting(false)}
        />
      )}
      {resetting && (
        <Reset
          repository={repository.id}
          branch={branch}
          row={resetting === 'all' ? undefined : resetting}
          onDone={changed}
          onClose={() => setResetting(undefined)}
        />
      )}
    </div>
  );
}

/** Says that the rule of the branch holds what is uncommitted on it, and the way out. */
function Protected({ repository, branch }: { repository: string; branch: string }) {
  return (
    <Notice kind="warning">
      {branch} is protected: while its rule stands, changes here can neither be committed nor
      undone. If there are any, delete the rule in{' '}
      <a href={links.settings(repository, 'branches')}>Branch protection</a>, commit or undo them,
      and protect the branch again.
    </Notice>
  );
}

function Clean({ repository, branch }: { repository: string; branch: string }) {
  return (
    <Empty
      icon="check"
      title={`${branch} has no uncommitted changes`}
      actions={
        <>
          <LinkButton href={links.objects(repository, branch)}>Upload or delete objects</LinkButton>
          <LinkButton href={links.commits(repository, branch)}>See its commits</LinkButton>
        </>
      }
    >
      Whatever is written to this branch appears here until it is committed: by this page, by the
      command line, by an S3 client or by Spark.
    </Empty>
  );
}
