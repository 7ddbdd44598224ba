/** Code that reads the object with other programs, to be copied. */

import { useEffect, useState } from 'preact/hooks';
import type { Place } from '../../api/objects';
import { CopyButton } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { remember, remembered } from '../../parts/storage';
import { checkedEndpoint, snippets } from './snippets';
import styles from './use-in-code.module.css';

const KEY = 'graveler.s3-endpoint';
// The code before its reader has named an endpoint.
const UNKNOWN = 'https://S3-ENDPOINT';

interface UseProps {
  place: Place;
  onClose: () => void;
}

export function UseInCode({ place, onClose }: UseProps) {
  const [title, setTitle] = useState('DuckDB');
  const [typed, setTyped] = useEndpoint();
  const endpoint = checkedEndpoint(typed);
  const all = snippets(place, endpoint ?? UNKNOWN);
  const shown = all.find(each => each.title === title) ?? all[0];
  if (!shown) return null;
  return (
    <Dialog title={`Use ${place.path.split('/').at(-1)} in code`} isWide onClose={onClose}>
      <div class="form">
        <SelectField
          label="Program"
          options={all.map(each => ({ value: each.title, text: each.title }))}
          value={shown.title}
          onText={setTitle}
        />
        {shown.isS3 && (
          <TextField
            label="Endpoint of the S3 gateway"
            hint={
              <>
                A deployment’s gateway has a host of its own. Without one, run{' '}
                <code>graveler gateway</code> on your machine, and enter what it prints.
              </>
            }
            problem={typed && !endpoint ? 'Enter https://HOST or http://HOST:PORT' : undefined}
            placeholder="https://s3.example.org"
            value={typed}
            onText={setTyped}
          />
        )}
        <div class={styles.code}>
          <pre>
            <code>{shown.code}</code>
          </pre>
          <CopyButton text={shown.code} label="Copy the code" />
        </div>
      </div>
    </Dialog>
  );
}

/** Return the S3 gateway's endpoint, and what remembers another one: at first this server's, if it serves S3. */
function useEndpoint(): [string, (text: string) => void] {
  const [endpoint, setEndpoint] = useState(() => remembered<string>(KEY) ?? '');
  useEffect(() => {
    if (endpoint) return;
    const abort = new AbortController();
    servesS3(abort.signal)
      .then(isS3 => isS3 && setEndpoint(old => old || location.origin))
      .catch(() => {}); // then it is typed
    return () => abort.abort();
  }, []);
  const set = (text: string) => {
    setEndpoint(text);
    remember(KEY, checkedEndpoint(text));
  };
  return [endpoint, set];
}

/** Return whether this server is an S3 gateway too: S3 refuses this signature with a document of its own. */
async function servesS3(signal: AbortSignal): Promise<boolean> {
  const headers = { Authorization: 'AWS4-HMAC-SHA256 Credential=none' };
  return (await (await fetch('/', { headers, signal })).text()).includes('<Error>');
}
