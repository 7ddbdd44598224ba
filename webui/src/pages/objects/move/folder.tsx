/** Moves or copies a folder of any size: a task of the server, with its progress. */

import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../../api/client';
import { useAction, useResource } from '../../../api/resource';
import { links } from '../../../links';
import { SelectField, TextField } from '../../../parts/field';
import { Form } from '../../../parts/form';
import { useSettled } from '../../../parts/settled';
import { countText } from '../../../parts/words';
import { cancelTask, useTasks, WorkView } from '../../../parts/work';
import type { MoveProps } from './props';

type IfExists = NonNullable<Schemas['PrefixMove']['if_exists']>;

const CHOICES: { value: IfExists; text: string }[] = [
  { value: 'fail', text: 'Stop there' },
  { value: 'skip', text: 'Leave both objects as they are' },
  { value: 'overwrite', text: 'Replace the object there' },
];

export function MoveFolder(props: MoveProps) {
  const [begun, setBegun] = useState<{ id: string; target: string }>();
  return begun ? (
    <Begun {...props} {...begun} />
  ) : (
    <Asked {...props} onBegun={(id, target) => setBegun({ id, target })} />
  );
}

/** Return why the source cannot go there; empty if it can. */
function problemOf(source: string, target: string): string {
  if (target === source) return '';
  if (!target) return 'A folder cannot move or be copied to the root, which it is inside of';
  if (target.startsWith(source)) return `${target} is inside of ${source}`;
  if (source.startsWith(target)) return `${source} is inside of ${target}`;
  return '';
}

type AskedProps = MoveProps & { onBegun: (id: string, target: string) => void };

function Asked({ repository, branch, source, isCopy, onClose, onBegun }: AskedProps) {
  const [text, setText] = useState(source);
  const [ifExists, setIfExists] = useState<IfExists>('fail');
  const target = text.replace(/[^/]$/, '$&/');
  const problem = problemOf(source, target);
  const isReady = target !== source && !problem;
  const asked = useSettled(isReady ? target : '');
  const there = useResource(['there', repository, branch, asked], async signal => {
    if (!asked) return false;
    const params = { path: { repository, ref: branch }, query: { prefix: asked, amount: 1 } };
    const { results } = await answer(
      api.GET('/repositories/{repository}/refs/{ref}/objects/ls', { params, signal }),
    );
    return results.length > 0;
  });
  const hasObjects = asked === target && there.data;
  const submit = useAction(async () => {
    const params = { path: { repository, branch }, query: { dest_prefix: target } };
    const body = { src_prefix: source, if_exists: ifExists, force: false };
    const at = '/repositories/{repository}/branches/{branch}/objects';
    const { id } = await answer(
      isCopy
        ? api.POST(`${at}/copy_prefix`, { params, body: { ...body, src_ref: '' } })
        : api.POST(`${at}/move_prefix`, { params, body }),
    );
    onBegun(id, target);
  });
  return (
    <Form
      action={isCopy ? 'Copy' : 'Move'}
      kind={hasObjects && ifExists === 'overwrite' ? 'danger' : 'primary'}
      {...{ submit, isReady, onClose }}
    >
      <TextField
        label="New folder"
        hint="The whole path of the folder, with its new name"
        problem={problem || undefined}
        autofocus
        value={text}
        onText={setText}
      />
      {hasObjects && (
        <SelectField
          label={`${target} has objects already. Where a path exists:`}
          options={CHOICES}
          value={ifExists}
          onText={value => setIfExists(value as IfExists)}
        />
      )}
      <p class="small quiet">These are uncommitted changes of {branch}; no data are copied.</p>
    </Form>
  );
}

type BegunProps = MoveProps & { id: string; target: string };

function Begun({ repository, id, source, target, isCopy, onClose }: BegunProps) {
  const work = useTasks(repository, [id]);
  const { done = 0, isEnded, failure, results } = work.data ?? {};
  const result = results?.[0];
  const word = isCopy ? 'copied' : 'moved';
  const skipped = Number(result?.skipped ?? 0);
  return (
    <WorkView
      {...{ work, onClose }}
      label={isCopy ? 'Copy' : 'Move'}
      stop={() => cancelTask(repository, id)}
    >
      {!isEnded && `${countText(done, 'object')} ${word} so far…`}
      {isEnded && !failure && (
        <>
          {countText(Number(result?.copied ?? done), 'object')} {word} from {source} to {target}
          {skipped > 0 && `; ${countText(skipped, 'object')} left, whose paths existed`}.
        </>
      )}
      {failure && (
        <>
          What was {word} before stays so, as uncommitted changes.{' '}
          <a href={links.tasks(repository)}>See the task</a>
        </>
      )}
    </WorkView>
  );
}
