/** The log-in with an access key: a page of its own, or a dialog over the work of a session that ended. */

import { useState } from 'preact/hooks';
import { Failure } from '../api/client';
import { useAction } from '../api/resource';
import { logIn, logOut, user } from '../api/session';
import favicon from '../favicon.svg?url';
import { Button } from '../parts/button';
import { Dialog } from '../parts/dialog';
import { TextField } from '../parts/field';
import { handleSubmit } from '../parts/form';
import { Problem } from '../parts/state';
import { useTitle } from '../parts/title';

export function LogIn() {
  useTitle('Log in');
  return (
    <main class="log-in" id="main">
      <div class="card">
        <div class="card-body stack">
          <img class="mark" src={favicon} alt="" />
          <div style={{ textAlign: 'center' }}>
            <h1>Log in to Graveler</h1>
            <p class="quiet">Version control for the objects of your data lake</p>
          </div>
          <KeyPairForm />
          <p class="small quiet">
            On your own machine, <code>graveler serve</code> and <code>make serve</code> print a key
            pair. In a deployment, your administrator creates one for you.
          </p>
        </div>
      </div>
    </main>
  );
}

/** Asks to log in again, over the page that is shown; nothing typed there is lost. */
export function LogInAgain() {
  return (
    <Dialog title="Your session has ended" isOfAll onClose={logOut}>
      <div class="stack">
        <p class="quiet">
          Log in again as {user.value?.friendly_name || user.value?.id} to go on where you were,
          then repeat what was refused.
        </p>
        <KeyPairForm />
      </div>
    </Dialog>
  );
}

function KeyPairForm() {
  const [id, setId] = useState('');
  const [secret, setSecret] = useState('');
  const { run, isBusy, failure } = useAction(() => logIn(id.trim(), secret.trim()));
  return (
    <form class="form" onSubmit={handleSubmit(run)}>
      <TextField
        label="Access key ID"
        value={id}
        onText={setId}
        name="username"
        autocomplete="username"
        required
        autofocus
      />
      <TextField
        label="Secret access key"
        value={secret}
        onText={setSecret}
        type="password"
        name="password"
        autocomplete="current-password"
        required
      />
      <Problem failure={failure && failureOfLogIn(failure)} />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        Log in
      </Button>
    </form>
  );
}

/** Return the failure in the words of a log-in. */
function failureOfLogIn(failure: Failure): Failure {
  if (failure.status !== 401) return failure;
  return new Failure('This key pair is not right. Check both parts, then try again.', 401);
}
