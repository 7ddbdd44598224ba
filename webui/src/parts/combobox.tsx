/**
 * An input whose keys choose one of the options that it finds: ARIA's combobox with a list.
 *
 * The input keeps the focus. Arrows choose, around the ends; Enter takes; Escape closes the list and nothing
 * around it.
 */

import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import styles from './combobox.module.css';
import { Icon, type IconName } from './icon';
import { useEnter } from './settled';
import { stepTo } from './steps';
import { visible } from './words';

export interface Option {
  /** Different for each option of a list. */
  id: string;
  text: string;
  /** Of what kind it is. */
  note?: string;
  icon: IconName;
}

interface ComboboxProps<Of extends Option> {
  text: string;
  onText: (text: string) => void;
  /** The name of the list, read aloud. Another list begins with its first option again. */
  list: string;
  options: readonly Of[];
  /** Whether the options are all that is found for this text: Enter waits for them. */
  isFound?: boolean;
  /** How many options stay while others are still being found. */
  certain?: number;
  /** Whether nothing is chosen until an arrow is pressed, so that Enter takes what is typed. */
  isFree?: boolean;
  /** Take the option; none if there is none to take. */
  onChoose: (option: Of | undefined) => void;
  /** Close the list; without it, Escape is left to what is around. */
  onEscape?: () => void;
}

export interface Combobox<Of extends Option> {
  input: JSX.IntrinsicElements['input'];
  options: { id: string; list: string; options: readonly Of[]; at: number } & {
    onChoose: (option: Of) => void;
  };
}

/** Return what the input and its `Options` take. */
export function useCombobox<Of extends Option>(props: ComboboxProps<Of>): Combobox<Of> {
  const { text, onText, list, options, isFound = true, certain = 0, isFree, onChoose } = props;
  const { onEscape } = props;
  const id = useId();
  const first = isFree ? -1 : 0;
  // What was chosen was chosen of this list, for this text.
  const of = JSON.stringify([list, text]);
  const [chosen, setChosen] = useState({ of, at: first });
  const at = chosen.of === of ? Math.min(chosen.at, options.length - 1) : first;
  const onEnter = useEnter(text, isFound || certain > Math.max(at, 0), () => onChoose(options[at]));
  const onKeyDown = (event: KeyboardEvent) => {
    const next = stepTo(event.key, at, options.length);
    if (next !== undefined) setChosen({ of, at: next });
    else if (event.key === 'Enter' && !(isFree && at < 0)) onEnter();
    else if (event.key === 'Escape' && onEscape) {
      event.stopPropagation();
      onEscape();
    } else return;
    event.preventDefault();
  };
  return {
    input: {
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-expanded': options.length > 0,
      'aria-controls': id,
      'aria-activedescendant': options[at] && `${id}-${at}`,
      autocomplete: 'off',
      spellcheck: false,
      value: text,
      onInput: event => onText(event.currentTarget.value),
      onKeyDown,
    },
    options: { id, list, options, at, onChoose },
  };
}

/** The list of a combobox; the chosen option is in view. */
export function Options<Of extends Option>(props: Combobox<Of>['options']) {
  const { id, list, options, at, onChoose } = props;
  const element = useRef<HTMLDivElement>(null);
  // The braces matter: Chromium's scrollIntoView returns a promise, which is no cleanup.
  useEffect(() => {
    element.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at, options.length]);
  return (
    <div class={styles.options} id={id} role="listbox" aria-label={list} ref={element}>
      {options.map((option, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
        <div
          class={styles.option}
          role="option"
          id={`${id}-${index}`}
          key={option.id}
          aria-selected={index === at}
          onMouseDown={event => event.preventDefault()}
          onClick={() => onChoose(option)}
        >
          <Icon name={option.icon} />
          <span class="grow wrap-anywhere">{visible(option.text)}</span>
          {option.note && <span class="quiet small">{option.note}</span>}
        </div>
      ))}
    </div>
  );
}
