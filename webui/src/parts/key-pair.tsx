/** A new key pair, to be copied the one time that its secret is shown. */

import type { Schemas } from '../api/client';
import { CopyButton } from './button';
import { Notice } from './state';

export type KeyPair = Schemas['CredentialsWithSecret'];

export function NewKeyPair({ access_key_id, secret_access_key }: KeyPair) {
  return (
    <>
      <Notice kind="warning">Copy the secret now. It is not shown again.</Notice>
      <dl class="facts">
        <dt>Access key ID</dt>
        <dd class="bar">
          <code class="wrap-anywhere">{access_key_id}</code>
          <CopyButton text={access_key_id} label="Copy the access key ID" />
        </dd>
        <dt>Secret access key</dt>
        <dd class="bar">
          <code class="wrap-anywhere">{secret_access_key}</code>
          <CopyButton text={secret_access_key} label="Copy the secret access key" />
        </dd>
      </dl>
    </>
  );
}
