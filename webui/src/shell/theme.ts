/** Light, dark, or as the system says; remembered by the browser. */

import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'graveler.theme';

function remembered(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // the browser refuses storage
  }
}

export const theme = signal<Theme>(remembered());

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  showTheme();
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Then it lasts until the page is loaded again.
  }
}

/** Give the document the chosen theme. */
export function showTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
