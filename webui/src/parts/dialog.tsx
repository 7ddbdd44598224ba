/** Dialogs: over the page, closed by Escape, with the focus kept inside by the browser. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useAction } from '../api/resource';
import { Button } from './button';
import styles from './dialog.module.css';
import { Form, type FormProps } from './form';
import { visible } from './words';

interface DialogProps {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  /** Whether it is about the whole page, and so stays when another address is shown. */
  isOfAll?: boolean;
  children: ComponentChildren;
}

/** Shown for as long as it is rendered, at the address where it was opened. The focus returns to where it was. */
export function Dialog({ title, onClose, isWide, isOfAll, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // What it would do is about what was shown then: another branch, for one, is another address.
  const { url } = useLocation();
  const opened = useRef(url);
  useEffect(() => {
    if (!isOfAll && url !== opened.current) onClose();
  }, [url]);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`${styles.dialog} ${isWide ? styles.wide : ''}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={titleId}>{visible(title)}</h2>
        <Button kind="ghost" icon="close" label="Close" onClick={onClose} />
      </header>
      <div class={styles.body}>{children}</div>
    </dialog>
  );
}

/** A dialog that is one form. */
export function FormDialog({ title, isWide, ...form }: FormProps & Omit<DialogProps, 'isOfAll'>) {
  return (
    <Dialog {...{ title, isWide }} onClose={form.onClose}>
      <Form {...form} />
    </Dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What is destroyed, and what stays. */
  children: ComponentChildren;
  action: string;
  /** The user has to type this text first; for what cannot be undone. */
  mustType?: string;
  act: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something is destroyed. Stays open, with the reason, if it fails. */
export function Confirm({ title, children, action, mustType, act, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const submit = useAction(async () => {
    await act();
    onClose();
  });
  const inputId = useId();
  return (
    <FormDialog
      {...{ title, submit, action, onClose }}
      kind="danger"
      isReady={!mustType || typed === mustType}
    >
      <div class="stack tight">{children}</div>
      {mustType && (
        <div class="field">
          <label for={inputId}>
            Type <code>{mustType}</code> to confirm
          </label>
          <input
            id={inputId}
            class="input"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={event => setTyped(event.currentTarget.value)}
          />
        </div>
      )}
    </FormDialog>
  );
}
