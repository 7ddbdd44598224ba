/** Buttons, and links that look like them. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, type IconName } from './icon';

interface Look {
  kind?: 'primary' | 'danger' | 'ghost';
  icon?: IconName;
  isSmall?: boolean;
}

type ButtonProps = Look &
  Omit<JSX.IntrinsicElements['button'], 'icon'> & {
    isBusy?: boolean;
    /** The name of a button that shows only its icon. */
    label?: string;
    children?: ComponentChildren;
  };

function classOf({ kind, isSmall }: Look, isIconOnly: boolean): string {
  return ['button', kind, isSmall && 'small', isIconOnly && 'icon-only'].filter(Boolean).join(' ');
}

/** A busy button shows a spinner, and does nothing when it is pressed. */
export function Button({
  kind,
  icon,
  isSmall,
  isBusy,
  label,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`${classOf({ kind, isSmall }, Boolean(label))} ${rest.class ?? ''}`}
      disabled={disabled || isBusy}
      aria-label={label ?? rest['aria-label']}
      title={rest.title ?? label}
    >
      {isBusy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

type LinkButtonProps = Look &
  Omit<JSX.IntrinsicElements['a'], 'icon'> & {
    label?: string;
    children?: ComponentChildren;
  };

export function LinkButton({ kind, icon, isSmall, label, children, ...rest }: LinkButtonProps) {
  const attributes = rest as JSX.IntrinsicElements['a'];
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: its address is among what is attributes
    <a
      {...attributes}
      class={classOf({ kind, isSmall }, Boolean(label))}
      aria-label={label ?? attributes['aria-label']}
      title={attributes.title ?? label}
    >
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** Copies `text`, and says so for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button
      kind="ghost"
      isSmall
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : label}
      onClick={copy}
    />
  );
}
