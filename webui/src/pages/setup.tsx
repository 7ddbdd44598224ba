/** The first page of a new deployment: creates the first administrator, whose key pair is shown once. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client';
import { useAction, useResource } from '../api/resource';
import favicon from '../favicon.svg?url';
import { links } from '../links';
import { Button, LinkButton } from '../parts/button';
import { TextField } from '../parts/field';
import { handleSubmit } from '../parts/form';
import { type KeyPair, NewKeyPair } from '../parts/key-pair';
import { Notice, Problem } from '../parts/state';
import { useTitle } from '../parts/title';

export function Setup() {
  useTitle('Set up');
  const [keyPair, setKeyPair] = useState<KeyPair>();
  const { data, failure, reload } = useResource(['setup'], signal =>
    answer(api.GET('/setup_lakefs', { signal })),
  );
  const isDone = data?.state === 'initialized' && !keyPair;
  return (
    <main class="log-in" id="main">
      <div class="card">
        <div class="card-body stack">
          <img class="mark" src={favicon} alt="" />
          <h1 style={{ textAlign: 'center' }}>Set up Graveler</h1>
          <Problem failure={failure} retry={reload} />
          {isDone && (
            <>
              <Notice>This installation has an administrator already.</Notice>
              <LinkButton kind="primary" href={links.logIn()}>
                Log in
              </LinkButton>
            </>
          )}
          {data && !isDone && !keyPair && <FirstAdministrator onCreated={setKeyPair} />}
          {keyPair && <Created keyPair={keyPair} />}
        </div>
      </div>
    </main>
  );
}

function FirstAdministrator({ onCreated }: { onCreated: (keyPair: KeyPair) => void }) {
  const [username, setUsername] = useState('admin');
  const [token, setToken] = useState('');
  const { run, isBusy, failure } = useAction(async () => {
    const header = { 'X-Graveler-Setup-Token': token.trim() };
    const body = { username: username.trim(), key: null };
    onCreated(await answer(api.POST('/setup_lakefs', { params: { header }, body })));
  });
  return (
    <form class="form" onSubmit={handleSubmit(run)}>
      <TextField
        label="Name of the first administrator"
        value={username}
        onText={setUsername}
        required
      />
      <TextField
        label="Setup token"
        hint="The deployment keeps it in the secret that its output SetupTokenSecret names."
        type="password"
        value={token}
        onText={setToken}
        required
      />
      <Problem failure={failure} />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Create the administrator
      </Button>
    </form>
  );
}

function Created({ keyPair }: { keyPair: KeyPair }) {
  return (
    <>
      <NewKeyPair {...keyPair} />
      <LinkButton kind="primary" href={links.logIn()}>
        Log in
      </LinkButton>
    </>
  );
}
