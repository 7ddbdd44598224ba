/** Light, dark, or as the system says; remembered by the browser. */

import { signal } from '@preact/signals';
import { remember, remembered } from '../parts/storage';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'graveler.theme';

const before = remembered(KEY);

export const theme = signal<Theme>(before === 'light' || before === 'dark' ? before : 'system');

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  showTheme();
  remember(KEY, chosen);
}

/** Give the document the chosen theme. */
export function showTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
