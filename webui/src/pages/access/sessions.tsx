/** Ends all sessions of a user at once, on all devices. Key pairs stay. */

import { useState } from 'preact/hooks';
import { answer, api } from '../../api/client';
import { logOut, user } from '../../api/session';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { tell } from '../../parts/toast';

export function EndSessions({ userId }: { userId: string }) {
  const [isAsking, setAsking] = useState(false);
  const isOwn = userId === user.value?.id;
  const act = async () => {
    if (isOwn) {
      await answer(api.DELETE('/user/sessions'));
      await logOut();
    } else {
      await answer(api.DELETE('/auth/users/{userId}/sessions', { params: { path: { userId } } }));
      tell(`All sessions of ${userId} have ended.`);
    }
  };
  const name = isOwn ? 'Log out everywhere' : 'End all sessions';
  return (
    <>
      <Button icon="logout" onClick={() => setAsking(true)}>
        {name}
      </Button>
      {isAsking && (
        <Confirm title={`${name}?`} action={name} act={act} onClose={() => setAsking(false)}>
          <p>
            All sessions of <b>{userId}</b> end within seconds, on all devices
            {isOwn && ', this one included'}. Access keys stay, and programs that use them go on.
          </p>
        </Confirm>
      )}
    </>
  );
}
