/** Light, dark, or as the system says; remembered by the browser. */

import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'graveler.theme';

function remembered(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = signal<Theme>(remembered());

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEY, chosen);
  showTheme();
}

/** Give the document the chosen theme. */
export function showTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
