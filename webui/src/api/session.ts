/** Who is logged in, and what the installation offers. */

import { signal } from '@preact/signals';
import { links } from '../links';
import { forgetAllBut } from '../parts/storage';
import { dropAnswers } from './cache';
import { answer, api, Failure, patientFetch, type Schemas, whenLoggedOut } from './client';

export type User = Schemas['UserRow'];

/** `undefined` until the server has been asked; `null` for nobody. */
export const user = signal<User | null | undefined>(undefined);

/** The access key of the log-in that began this session: without it, the session ends. */
export const sessionKey = signal<string | undefined>(undefined);

export const configuration = signal<Schemas['Config'] | undefined>(undefined);

/** Whether the session has ended while its user was at work; the page stays, and asks to log in again. */
export const hasEnded = signal(false);
hasEnded.subscribe(dropAnswers);

whenLoggedOut(() => {
  if (user.value) hasEnded.value = true;
  else user.value = null;
});

// Tells the other tabs of this browser, which have the same cookie, whose session it is now.
const tabs = new BroadcastChannel('session');
tabs.onmessage = ({ data }: MessageEvent<string | null>) => {
  if (!user.value) return;
  if (data && data !== user.value.id) location.reload();
  else hasEnded.value = data === null;
};

/** Ask the server who is logged in. Fails if it cannot be reached. */
export async function loadSession(): Promise<void> {
  try {
    const current = await answer(api.GET('/user'));
    sessionKey.value = current.access_key_id ?? undefined;
    // Without a session, the server names nobody, and refuses all else.
    user.value = current.user.id ? current.user : null;
    // The page is shown meanwhile.
    if (user.value) configuration.value = await answer(api.GET('/config'));
  } catch (error) {
    if (!(error instanceof Failure && error.status === 401)) throw error;
    user.value = null;
  }
}

/** Return whether the installation has no administrator yet. */
export async function isNew(): Promise<boolean> {
  return (await answer(api.GET('/setup_lakefs'))).state !== 'initialized';
}

/** Log in with a key pair; the server sets the cookie, which scripts cannot read. */
export async function logIn(access_key_id: string, secret_access_key: string): Promise<void> {
  await answer(api.POST('/auth/login', { body: { access_key_id, secret_access_key } }));
  const before = user.value?.id;
  await loadSession();
  // What is shown is another user's.
  if (before && before !== user.value?.id) location.reload();
  hasEnded.value = false;
  if (user.value) tabs.postMessage(user.value.id);
}

/** Remove what the browser remembers of the user's work; what begins with `graveler.`, as the theme, is its own. */
function forget(): void {
  dropAnswers();
  forgetAllBut('graveler.');
}

/** End this browser's session, and show the log-in. */
export async function logOut(): Promise<void> {
  await patientFetch(new Request('/logout', { redirect: 'manual' }));
  tabs.postMessage(null);
  forget();
  // Nothing of this user may stay in the tab: what is shown, nor the uploads that still run.
  location.assign(links.logIn());
}
