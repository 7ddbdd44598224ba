/** Short messages in the corner: that something was done. Failures belong beside what failed. */

import { signal } from '@preact/signals';
import { Notice } from './state';
import { visible } from './words';

interface Toast {
  id: number;
  text: string;
}

const SHOWN_MS = 5000;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Tell the user that something was done. */
export function tell(text: string): void {
  const id = ++count;
  toasts.value = [...toasts.value, { id, text }];
  setTimeout(() => {
    toasts.value = toasts.value.filter(toast => toast.id !== id);
  }, SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(toast => (
        <Notice key={toast.id} kind="success">
          {visible(toast.text)}
        </Notice>
      ))}
    </div>
  );
}
