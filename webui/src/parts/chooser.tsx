/** A dialog with a combobox: what is found may be taken, Escape leaves. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import styles from './chooser.module.css';
import { type Option, Options, useCombobox } from './combobox';
import dialog from './dialog.module.css';

export interface Choice extends Option {
  run: () => void;
}

interface ChooserProps {
  title: string;
  /** What may be typed. */
  label: string;
  text: string;
  onText: (text: string) => void;
  choices: readonly Choice[];
  isFound?: boolean;
  certain?: number;
  onClose: () => void;
  /** Shown below the choices. */
  children?: ComponentChildren;
}

export function Chooser({ title, label, choices, onClose, children, ...rest }: ChooserProps) {
  const element = useRef<HTMLDialogElement>(null);
  const { input, options } = useCombobox({
    ...rest,
    list: 'Found',
    options: choices,
    onChoose: choice => {
      if (!choice) return;
      onClose();
      choice.run();
    },
  });
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes, as Escape does
    <dialog
      ref={element}
      class={`${dialog.dialog} ${styles.chooser}`}
      aria-label={title}
      onClose={onClose}
      onClick={event => event.target === element.current && onClose()}
    >
      <input {...input} aria-label={label} placeholder={label} />
      <Options {...options} />
      {children && <div class={`${styles.foot} small quiet`}>{children}</div>}
    </dialog>
  );
}
