/** Starts the page: asks who is logged in, then shows the page of the address. */

import 'virtual:scales.css';
import './styles/index.css';
import { render } from 'preact';
import { ROW_PX } from './parts/row';
import { preload } from './routes';
import { App } from './shell/app';
import { showTheme } from './shell/theme';

showTheme();
document.documentElement.style.setProperty('--row', `${ROW_PX}px`);
preload(location.pathname);
const page = document.getElementById('page');
if (page) render(<App />, page);
