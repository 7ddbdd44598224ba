/** A dialog with one input and what it finds: arrows choose, Enter takes, Escape leaves. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon';
import { useEnter } from './settled';

export interface Choice {
  text: string;
  /** Of what kind it is. */
  note?: string;
  icon: IconName;
  run: () => void;
}

interface ChooserProps {
  title: string;
  /** What may be typed. */
  label: string;
  text: string;
  onText: (text: string) => void;
  choices: readonly Choice[];
  /** How many of the choices stay while others are still being found; without it, all do. */
  certain?: number;
  onClose: () => void;
  /** Shown below the choices. */
  children?: ComponentChildren;
}

export function Chooser(props: ChooserProps) {
  const {
    title,
    label,
    text,
    onText,
    choices,
    certain = choices.length,
    onClose,
    children,
  } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [at, setAt] = useState(0);
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.run();
  };
  // Enter waits for what is being found: another choice may come to its place.
  const onEnter = useEnter(text, at < certain, () => take(choices[at]));
  useEffect(() => {
    element.current?.showModal();
  }, []);
  // The braces matter: Chromium's scrollIntoView returns a promise, which is no cleanup.
  useEffect(() => {
    element.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt(Math.max(0, Math.min(choices.length - 1, at + step)));
    else if (event.key === 'Enter') onEnter();
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes, as Escape does
    <dialog
      ref={element}
      class="dialog palette"
      aria-label={title}
      onClose={onClose}
      onClick={event => event.target === element.current && onClose()}
    >
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choices.length ? `${id}-${at}` : undefined}
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={event => {
          onText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="options" id={id} role="listbox" aria-label="Found">
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
          <div
            class="option"
            role="option"
            id={`${id}-${index}`}
            key={`${choice.note} ${choice.text}`}
            aria-selected={index === at}
            onClick={() => take(choice)}
          >
            <Icon name={choice.icon} />
            <span class="wrap-anywhere grow">{choice.text}</span>
            {choice.note && <span class="quiet small">{choice.note}</span>}
          </div>
        ))}
      </div>
      {children}
    </dialog>
  );
}
