/** Forms that do one thing: fields, the reason of a failure, Cancel and what submits. */

import type { ComponentChildren } from 'preact';
import type { Action } from '../api/resource';
import { Button } from './button';
import type { IconName } from './icon';
import { Problem } from './state';

export interface FormProps {
  /** What submitting does. */
  submit: Omit<Action<[]>, 'clear'>;
  /** What the button that submits is called. */
  action: ComponentChildren;
  kind?: 'primary' | 'danger';
  icon?: IconName;
  /** Whether what is filled in may be submitted. */
  isReady?: boolean;
  /** Why it may not, shown on the button. */
  reason?: string;
  /** What closing is called. */
  cancel?: string;
  onClose: () => void;
  /** Shown in place of the failure. */
  problem?: ComponentChildren;
  children?: ComponentChildren;
}

/** Return what listens to a form's submission: the browser stays on the page. */
export function handleSubmit(act: () => unknown): (event: SubmitEvent) => void {
  return event => {
    event.preventDefault();
    act();
  };
}

export function Form(props: FormProps) {
  const { submit, action, kind = 'primary', icon, isReady = true, reason } = props;
  const { cancel = 'Cancel', onClose, problem, children } = props;
  const { run, isBusy, failure } = submit;
  return (
    <form class="form" onSubmit={handleSubmit(() => isReady && run())}>
      {children}
      {problem === undefined ? <Problem failure={failure} /> : problem}
      <div class="actions">
        <Button onClick={onClose}>{cancel}</Button>
        <Button
          {...{ kind, icon, isBusy }}
          type="submit"
          disabled={!isReady}
          title={isReady ? undefined : reason}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
