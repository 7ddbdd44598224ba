/** Fields of forms, each with its label, its hint and its problem. */

import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  problem?: string;
}

interface Described {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A label, the control that `children` returns, and what is to be known about it. */
export function Field({
  label,
  hint,
  problem,
  children,
}: FieldProps & { children: (described: Described) => ComponentChildren }) {
  const id = useId();
  const notes = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': notes || undefined, 'aria-invalid': Boolean(problem) })}
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {problem && (
        <div class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

type TextProps = FieldProps &
  Omit<JSX.IntrinsicElements['input'], 'label' | 'onInput'> & {
    value: string;
    onText: (text: string) => void;
  };

export function TextField({ label, hint, problem, onText, ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {described => (
        <input
          autocomplete="off"
          spellcheck={false}
          {...(rest as JSX.IntrinsicElements['input'])}
          {...described}
          class="input"
          onInput={event => onText(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type AreaProps = FieldProps &
  Omit<JSX.IntrinsicElements['textarea'], 'label' | 'onInput'> & {
    value: string;
    onText: (text: string) => void;
    isCode?: boolean;
  };

export function AreaField({ label, hint, problem, onText, isCode, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {described => (
        <textarea
          spellcheck={!isCode}
          {...rest}
          {...described}
          class={`textarea${isCode ? ' code' : ''}`}
          onInput={event => onText(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectProps = FieldProps & {
  value: string;
  onText: (text: string) => void;
  options: readonly { value: string; text: string }[];
};

export function SelectField({ label, hint, problem, value, onText, options }: SelectProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {described => (
        <select
          {...described}
          class="select"
          value={value}
          onChange={event => onText(event.currentTarget.value)}
        >
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  label: string;
  hint?: string;
  isChecked: boolean;
  onCheck: (isChecked: boolean) => void;
}

export function CheckField({ label, hint, isChecked, onCheck }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        onChange={event => onCheck(event.currentTarget.checked)}
      />
      <label for={id}>
        {label}
        {hint && <div class="small quiet">{hint}</div>}
      </label>
    </div>
  );
}
