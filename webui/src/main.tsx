/** Starts the page: asks who is logged in, then shows the page of the address. */

import 'virtual:scales.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import { render } from 'preact';
import { preload } from './routes';
import { App } from './shell/app';
import { showTheme } from './shell/theme';

showTheme();
preload(location.pathname);
const page = document.getElementById('page');
if (page) render(<App />, page);
