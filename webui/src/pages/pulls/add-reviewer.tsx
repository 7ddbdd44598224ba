/** Asks for the name of a user who is to review; not a form, so that it can be part of one. */

import { useState } from 'preact/hooks';
import { answerOf, apiRead } from '../../api/cache';
import { useResource } from '../../api/resource';
import { Button } from '../../parts/button';
import { useSettled } from '../../parts/settled';
import { SuggestField } from '../../parts/suggest-field';
import styles from './add-reviewer.module.css';

const SUGGESTED = 20;

interface AddProps {
  isBusy?: boolean;
  disabled?: boolean;
  onAdd: (user: string) => void;
}

export function AddReviewer({ isBusy, disabled, onAdd }: AddProps) {
  const [name, setName] = useState('');
  const prefix = useSettled(name.trim());
  // A user who may not list users types the whole name.
  const { data } = useResource(['users', prefix], async signal =>
    prefix
      ? answerOf(apiRead('/auth/users', { query: { prefix, amount: SUGGESTED } }), signal)
      : undefined,
  );
  const add = () => {
    if (!name.trim()) return;
    onAdd(name.trim());
    setName('');
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
        onText={setName}
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
