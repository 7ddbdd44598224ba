/** The log-in with an access key. */

import { useState } from 'preact/hooks';
import { useAction } from '../api/resource';
import { logIn } from '../api/session';
import favicon from '../favicon.svg?url';
import { Button } from '../parts/button';
import { TextField } from '../parts/field';
import { Problem } from '../parts/state';
import { useTitle } from '../parts/title';

export function LogIn() {
  useTitle('Log in');
  const [id, setId] = useState('');
  const [secret, setSecret] = useState('');
  const { run, isBusy, failure } = useAction(() => logIn(id.trim(), secret.trim()));
  return (
    <main class="log-in" id="main">
      <form
        class="card"
        onSubmit={event => {
          event.preventDefault();
          run();
        }}
      >
        <div class="card-body form">
          <img class="mark" src={favicon} alt="" />
          <div style={{ textAlign: 'center' }}>
            <h1>Log in to Graveler</h1>
            <p class="quiet">Version control for the objects of your data lake</p>
          </div>
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
          {failure && (
            <Problem
              failure={
                failure.status === 401
                  ? Object.assign(failure, {
                      message: 'This key pair is not right. Check both parts, then try again.',
                    })
                  : failure
              }
            />
          )}
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Log in
          </Button>
          <p class="small quiet">
            The embedded stack prints a key pair when it starts. In a deployment, your administrator
            creates one for you.
          </p>
        </div>
      </form>
    </main>
  );
}
