/** A field for a name that exists already: what is typed finds names, and any text may be sent. */

import { useRef, useState } from 'preact/hooks';
import { Options, useCombobox } from './combobox';
import styles from './combobox.module.css';
import { Field } from './field';
import type { IconName } from './icon';
import { useOutside } from './menu';
import { Popover } from './popover';

interface SuggestProps {
  label: string;
  icon: IconName;
  value: string;
  onText: (text: string) => void;
  /** The names that are found for the value; none while they are being found: earlier ones stay. */
  suggestions: readonly string[] | undefined;
  hint?: string;
  problem?: string;
  disabled?: boolean;
  required?: boolean;
}

export function SuggestField(props: SuggestProps) {
  const { label, icon, value, onText, suggestions, hint, problem } = props;
  const { disabled, required = true } = props;
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const known = useRef<readonly string[]>([]);
  known.current = suggestions ?? known.current;
  const close = () => setOpen(false);
  useOutside(anchor, isOpen, close);
  const names = isOpen
    ? known.current.filter(name => name !== value && name.startsWith(value))
    : [];
  const { input, options } = useCombobox({
    text: value,
    onText: text => {
      setOpen(true);
      onText(text);
    },
    list: 'Suggestions',
    options: names.map(name => ({ id: name, text: name, icon })),
    isFree: true,
    onChoose: option => {
      close();
      if (option) onText(option.id);
    },
    onEscape: names.length ? close : undefined,
  });
  return (
    <div ref={anchor}>
      <Field {...{ label, hint, problem }}>
        {described => (
          <input
            {...{ ...input, ...described, disabled, required }}
            class="input"
            onFocus={() => setOpen(true)}
          />
        )}
      </Field>
      {names.length > 0 && (
        <Popover anchor={anchor} class={styles.panel} edge="left">
          <Options {...options} />
        </Popover>
      )}
    </div>
  );
}
