/** The access keys of the user who is logged in. */

import { user } from '../../api/session';
import { Keys } from './keys';
import { EndSessions } from './sessions';

export function Credentials() {
  const id = user.value?.id;
  return (
    <div class="stack">
      <div class="page-head">
        <div class="titles">
          <h1>My access keys</h1>
          <p>
            Key pairs of <b>{id}</b>, for programs and for logging in here.
          </p>
        </div>
        {id && <EndSessions userId={id} />}
      </div>
      {id && <Keys userId={id} />}
    </div>
  );
}
