/** Moves or copies one object: a copy that shares the data, and then the deletion of the source. */

import { useState } from 'preact/hooks';
import { answer, api, Failure } from '../../../api/client';
import { copyObject, exists } from '../../../api/objects';
import { useAction, useIsShown, useResource } from '../../../api/resource';
import { TextField } from '../../../parts/field';
import { Form } from '../../../parts/form';
import { useSettled } from '../../../parts/settled';
import { Notice, Problem } from '../../../parts/state';
import { tell } from '../../../parts/toast';
import type { MoveProps } from './props';

interface Copied {
  target: string;
  checksum: string;
}

/** Copy the source to the target; without `replaces`, fail if an object is there by now. */
async function copyTo(
  { repository, branch, source }: MoveProps,
  target: string,
  replaces: boolean,
): Promise<Copied> {
  const place = { repository, ref: branch, path: source };
  const { checksum } = await copyObject(place, branch, target, replaces ? 'anything' : undefined);
  return { target, checksum };
}

/** Delete the source if it still is what was copied. */
async function deleteSource({ repository, branch, source }: MoveProps, copied: Copied) {
  try {
    await answer(
      api.DELETE('/repositories/{repository}/branches/{branch}/objects', {
        params: {
          path: { repository, branch },
          query: { path: source },
          header: { 'If-Match': `"${copied.checksum}"` },
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const reason =
      error.status === 412 ? 'It was changed meanwhile, so look at both.' : error.message;
    throw new Failure(
      `${source} is copied to ${copied.target}, but is still at its old path as well. ${reason}`,
      error.status,
    );
  }
}

export function MoveObject(props: MoveProps) {
  const { repository, branch, source, isCopy, onClose, onMoved } = props;
  const name = source.slice(source.lastIndexOf('/') + 1);
  const [text, setText] = useState(source);
  const [copied, setCopied] = useState<Copied>();
  const target = text.endsWith('/') ? text + name : text;
  const isSame = target === source || !target;
  const asked = useSettled(isSame ? '' : target);
  const there = useResource(['target', repository, branch, asked], async signal =>
    asked ? exists({ repository, ref: branch, path: asked }, signal) : false,
  );
  // What is known is of the path that was typed last.
  const isKnown = asked === target && there.data !== undefined;
  const isShown = useIsShown();
  const submit = useAction(async () => {
    // A move whose deletion failed goes on there; nothing is copied twice.
    const copy = copied ?? (await copyTo(props, target, there.data ?? false));
    if (!isShown()) return tell(`${source} was copied to ${target}, and is still there as well.`);
    if (!isCopy) {
      setCopied(copy);
      await deleteSource(props, copy);
    }
    tell(`${source} is ${isCopy ? 'copied' : 'moved'} to ${target}`);
    if (!isShown()) return;
    onMoved?.(target);
    onClose();
  });
  const replaces = isKnown && there.data && !copied;
  return (
    <Form
      action={
        copied ? 'Delete at the old path' : replaces ? 'Replace it' : isCopy ? 'Copy' : 'Move'
      }
      kind={replaces ? 'danger' : 'primary'}
      isReady={!isSame && isKnown}
      {...{ submit, onClose }}
    >
      <TextField
        label="New path"
        hint="The whole path. With a slash at its end, it is a folder, and the name stays."
        disabled={Boolean(copied)}
        autofocus
        value={text}
        onText={setText}
      />
      {replaces && (
        <Notice kind="warning">{target} exists. Its content is replaced on this branch.</Notice>
      )}
      <p class="small quiet">It is an uncommitted change of {branch}; no data are copied.</p>
      <Problem failure={there.failure} retry={there.reload} />
    </Form>
  );
}
