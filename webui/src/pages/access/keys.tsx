/** The access keys of a user: list, create, delete. A secret is shown once. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { useAction, usePages } from '../../api/resource';
import { sessionKey } from '../../api/session';
import { Button, CopyButton } from '../../parts/button';
import { Confirm, Dialog } from '../../parts/dialog';
import { Icon } from '../../parts/icon';
import { type KeyPair, NewKeyPair } from '../../parts/key-pair';
import { PagedList } from '../../parts/list';
import { Empty, Notice, Problem } from '../../parts/state';
import { Time } from '../../parts/time';
import { tell } from '../../parts/toast';
import { PAGE } from './names';

export function Keys({ userId }: { userId: string }) {
  const [pair, setPair] = useState<KeyPair>();
  const [deleting, setDeleting] = useState<string>();
  const pages = usePages(['keys', userId], (after, signal) =>
    answer(
      api.GET('/auth/users/{userId}/credentials', {
        params: { path: { userId }, query: { after, amount: PAGE } },
        signal,
      }),
    ),
  );
  const creation = useAction(async () => {
    const path = { userId };
    setPair(await answer(api.POST('/auth/users/{userId}/credentials', { params: { path } })));
    pages.reload();
  });
  return (
    <div class="stack">
      <div>
        <Button kind="primary" icon="plus" isBusy={creation.isBusy} onClick={creation.run}>
          Create access key
        </Button>
      </div>
      <Problem failure={creation.failure} />
      <PagedList
        pages={pages}
        label="Access keys"
        keyOf={key => key.access_key_id}
        row={key => (
          <>
            <Icon name="key" />
            <span class="grow bar">
              <code class="wrap-anywhere">{key.access_key_id}</code>
              {key.access_key_id === sessionKey.value && (
                <span class="badge indigo" title="You logged in to this page with this key">
                  This session
                </span>
              )}
              <span class="small quiet push">
                Created <Time at={key.creation_date} />
              </span>
            </span>
            <Button
              isSmall
              kind="ghost"
              icon="trash"
              label={`Delete ${key.access_key_id}`}
              onClick={() => setDeleting(key.access_key_id)}
            />
          </>
        )}
        empty={
          <Empty icon="key" title="No access key yet">
            Programs log in with a key pair, and so do people on this page.
          </Empty>
        }
      />
      {pair && <NewPair pair={pair} onClose={() => setPair(undefined)} />}
      {deleting && (
        <DeleteKey
          {...{ userId }}
          id={deleting}
          onDeleted={pages.reload}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </div>
  );
}

interface DeleteProps {
  userId: string;
  id: string;
  onDeleted: () => void;
  onClose: () => void;
}

function DeleteKey({ userId, id, onDeleted, onClose }: DeleteProps) {
  const act = async () => {
    const path = { userId, accessKeyId: id };
    await answer(
      api.DELETE('/auth/users/{userId}/credentials/{accessKeyId}', { params: { path } }),
    );
    tell(`The access key ${id} was deleted.`);
    onDeleted();
  };
  return (
    <Confirm title="Delete this access key?" action="Delete key" {...{ act, onClose }}>
      <p>
        Programs that use <code>{id}</code> of <b>{userId}</b> can no longer log in.
      </p>
      {id === sessionKey.value && (
        <Notice kind="warning">
          You logged in to this page with this key, so this session ends with it. Keep another key
          pair at hand.
        </Notice>
      )}
    </Confirm>
  );
}

/** The one time that the secret is shown. */
function NewPair({ pair, onClose }: { pair: KeyPair; onClose: () => void }) {
  const { access_key_id, secret_access_key } = pair;
  const file = `credentials:
  access_key_id: ${access_key_id}
  secret_access_key: ${secret_access_key}
server:
  endpoint_url: ${location.origin}
`;
  return (
    <Dialog title={`New access key ${access_key_id}`} isWide onClose={onClose}>
      <div class="stack">
        <NewKeyPair {...pair} />
        <div class="bar">
          <h3 class="grow">
            For <code>graveler</code> and <code>lakectl</code>: the file{' '}
            <code>~/.lakectl.yaml</code>
          </h3>
          <CopyButton text={file} label="Copy the file" />
        </div>
        <pre class="code-box">{file}</pre>
        <div class="bar">
          <Button kind="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
