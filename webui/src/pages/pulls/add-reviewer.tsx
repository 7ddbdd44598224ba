/** Asks for the name of a user who is to review; not a form, so that it can be part of one. */

import { answerOf, apiRead } from '../../api/cache';
import { Failure } from '../../api/client';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { useSettled } from '../../parts/settled';
import { SuggestField } from '../../parts/suggest-field';
import styles from './add-reviewer.module.css';

const SUGGESTED = 20;

function readUsers(prefix: string) {
  return apiRead('/auth/users', { query: { prefix, amount: SUGGESTED } });
}

/** Fail if there is no such user, as far as the page's user may know: the server takes any name. */
export async function requireUser(name: string): Promise<void> {
  const found = await answerOf(readUsers(name)).catch(() => undefined);
  // The list is in the order of names, so the name itself comes first.
  if (found && found.results[0]?.id !== name)
    throw new Failure(`There is no user ${name}. Check the name.`, 404);
}

interface AddProps {
  /** What is typed, and not asked yet. */
  name: string;
  onName: (name: string) => void;
  isBusy?: boolean;
  disabled?: boolean;
  onAdd: (user: string) => void;
}

export function AddReviewer({ name, onName, isBusy, disabled, onAdd }: AddProps) {
  const prefix = useSettled(name.trim());
  // A user who may not list users types the whole name.
  const { data } = useResource(['users', prefix], async signal =>
    prefix ? answerOf(readUsers(prefix), signal) : undefined,
  );
  const add = () => {
    if (name.trim()) onAdd(name.trim());
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key of the field inside
    <div
      class={styles.add}
      onKeyDown={event => {
        // Enter takes a suggestion first, if one is chosen.
        if (event.key !== 'Enter' || event.defaultPrevented) return;
        if (!(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        add();
      }}
    >
      <SuggestField
        label="Ask a user for a review"
        icon="user"
        value={name}
        onText={onName}
        suggestions={prefix ? data?.results.map(({ id }) => id) : []}
        disabled={disabled}
        required={false}
      />
      <Button icon="plus" {...{ isBusy, disabled }} onClick={add}>
        Ask
      </Button>
    </div>
  );
}
