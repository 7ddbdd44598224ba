/** Starts the page: asks who is logged in, then shows the page of the address. */

import 'virtual:scales.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import { render } from 'preact';
import { App } from './shell/app';
import { showTheme } from './shell/theme';

// A new version of the page has replaced the files that this one would load.
addEventListener('vite:preloadError', () => location.reload());

showTheme();
const page = document.getElementById('page');
if (page) render(<App />, page);
