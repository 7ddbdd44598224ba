/** Brings an object or a folder back to a branch as a commit has it, and says before what that replaces. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { answer, api, Failure } from '../../../api/client';
import { copyObject, find, resetBranch } from '../../../api/objects';
import { useAction, useResource } from '../../../api/resource';
import { links } from '../../../links';
import { useBranch } from '../../../parts/branch';
import { Button } from '../../../parts/button';
import { Dialog } from '../../../parts/dialog';
import { Form } from '../../../parts/form';
import { isProtected, useRules } from '../../../parts/protection';
import { RefPicker } from '../../../parts/ref-picker';
import { useCurrentRef, useRepository } from '../../../parts/repository';
import { Notice, Problem, Skeleton } from '../../../parts/state';
import { tell } from '../../../parts/toast';
import { countText } from '../../../parts/words';
import { cancelTask, useTasks, WorkView } from '../../../parts/work';
import { CreateRef } from '../../refs/create';
import { isFolder, type Plan, planOf, type Version } from './plan';

interface RestoreProps {
  version: Version;
  onClose: () => void;
  /** Told when an object is back, before its page shows: it may be this one. */
  onRestored?: () => void;
}

export function RestoreDialog({ version, onClose, onRestored }: RestoreProps) {
  const { id: repository, default_branch } = useRepository();
  const ref = useCurrentRef();
  const found = useBranch(repository, ref);
  const [chosen, setChosen] = useState<string>();
  const [isBranching, setBranching] = useState(false);
  const branch = chosen ?? (found.data ? ref : default_branch);
  const isKnown = found.data !== undefined || found.failure !== undefined;
  return (
    <>
      <Dialog title={`Restore ${version.path || 'all objects'}`} onClose={onClose}>
        {isKnown ? (
          <Asked
            {...{ version, branch, onClose, onRestored }}
            onBranch={setChosen}
            onNewBranch={() => setBranching(true)}
          />
        ) : (
          <Skeleton />
        )}
      </Dialog>
      {isBranching && (
        <CreateRef
          kind="branch"
          repository={repository}
          source={branch}
          onCreated={setChosen}
          onClose={() => setBranching(false)}
        />
      )}
    </>
  );
}

interface AskedProps extends RestoreProps {
  branch: string;
  onBranch: (branch: string) => void;
  onNewBranch: () => void;
}

function Asked({ version, branch, onClose, onRestored, onBranch, onNewBranch }: AskedProps) {
  const { repository, path } = version;
  const { route } = useLocation();
  const [task, setTask] = useState<string>();
  const rules = useRules(repository).data;
  const isLocked = isProtected(rules, branch);
  const plan = useResource(['restore', version, branch], signal => planOf(version, branch, signal));
  const { data } = plan;
  const submit = useAction(async () => {
    if (!data) return;
    const restore = isFolder(version)
      ? startFolder(version, data, branch).then(setTask)
      : restoreObject(data, branch);
    await restore.catch(error => {
      plan.reload(); // shows what is there now
      throw error;
    });
    if (isFolder(version)) return;
    tell(`${path} is restored on ${branch}.${data.isUndo ? '' : ' Commit it to keep it.'}`);
    onClose();
    onRestored?.();
    route(links.object(repository, branch, path));
  });
  if (task) return <Begun {...{ repository, task, branch, path, onClose }} />;
  return (
    <Form
      action="Restore"
      icon="undo"
      kind={data?.loss ? 'danger' : 'primary'}
      isReady={Boolean(data && !data.problem && !isLocked)}
      {...{ submit, onClose }}
    >
      <div class="field">
        <span class="label">To the branch</span>
        <RefPicker
          repository={repository}
          value={branch}
          kinds={['branch']}
          label="To the branch"
          onChoose={onBranch}
        />
      </div>
      {isLocked ? (
        <Locked branch={branch} onNewBranch={onNewBranch} />
      ) : (
        <Effect plan={data} isLoading={plan.isLoading} />
      )}
      <Problem failure={plan.failure} retry={plan.reload} />
    </Form>
  );
}

function Locked({ branch, onNewBranch }: { branch: string; onNewBranch: () => void }) {
  return (
    <Notice kind="warning">
      <div class="bar">
        <span class="grow">
          {branch} is protected. Restore to a branch of it, and merge that branch.
        </span>
        <Button isSmall icon="branch" onClick={onNewBranch}>
          Create branch
        </Button>
      </div>
    </Notice>
  );
}

interface EffectProps {
  plan: Plan | undefined;
  isLoading: boolean;
}

/** Says what the restore does, once it is known. */
function Effect({ plan, isLoading }: EffectProps) {
  if (!plan) return isLoading ? <Skeleton lines={2} /> : null;
  if (plan.problem) return <Notice kind="warning">{plan.problem}</Notice>;
  return (
    <>
      <p role="status">{plan.effect}</p>
      {plan.loss && <Notice kind="warning">{plan.loss}</Notice>}
    </>
  );
}

/** Restore the object if the branch has there what the plan says. */
async function restoreObject({ from, now, isUndo }: Plan, branch: string): Promise<void> {
  const { repository, path } = from;
  try {
    if (!isUndo) await copyObject(from, branch, path, now);
    else if ((await find({ ...from, ref: branch }))?.checksum !== now?.checksum)
      throw new Failure('', 412);
    else await resetBranch(repository, branch, 'object', path);
  } catch (error) {
    if (!(error instanceof Failure && error.status === 412)) throw error;
    throw changedMeanwhile('object', branch);
  }
}

function changedMeanwhile(what: string, branch: string): Failure {
  return new Failure(
    `The ${what} on ${branch} has changed meanwhile. Read again what is replaced.`,
    412,
  );
}

/** Start the task that restores the folder if the plan is still what it does; return its ID. */
async function startFolder(version: Version, plan: Plan, branch: string): Promise<string> {
  const now = await planOf(version, branch, new AbortController().signal);
  if (JSON.stringify(now) !== JSON.stringify(plan)) throw changedMeanwhile('folder', branch);
  const { from } = plan;
  const params = { path: { repository: from.repository, branch } };
  const body = { prefix: from.path, ref: from.ref, force: false };
  const address = '/repositories/{repository}/branches/{branch}/objects/restore_prefix';
  return (await answer(api.POST(address, { params, body }))).id;
}

interface BegunProps {
  repository: string;
  task: string;
  branch: string;
  path: string;
  onClose: () => void;
}

function Begun({ repository, task, branch, path, onClose }: BegunProps) {
  const work = useTasks(repository, [task]);
  const { done = 0, isEnded, failure, results } = work.data ?? {};
  const changed = Number(results?.[0]?.changed ?? done);
  return (
    <WorkView {...{ work, onClose }} label="Restore" stop={() => cancelTask(repository, task)}>
      {!isEnded && `${countText(done, 'object')} restored so far…`}
      {isEnded && !failure && (
        <>
          {countText(changed, 'object')} changed on {branch}, not committed yet.{' '}
          <a href={links.objects(repository, branch, path)}>Open the folder</a> or{' '}
          <a href={links.changes(repository, branch)}>see the changes</a>.
        </>
      )}
      {failure && (
        <>
          What was restored before stays so, as uncommitted changes.{' '}
          <a href={links.tasks(repository)}>See the task</a>
        </>
      )}
    </WorkView>
  );
}
