/** The whole page: the log-in in front, then the header and the page of the address. */

import { useEffect, useRef } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useAction } from '../api/resource';
import { hasEnded, loadSession, user } from '../api/session';
import { links } from '../links';
import { LogIn, LogInAgain } from '../pages/log-in';
import { Problem } from '../parts/state';
import { Toasts } from '../parts/toast';
import { pages } from '../routes';
import { Header } from './header';
import { NotFound } from './not-found';
import { Palette } from './palette';
import { RepositoryFrame } from './repository';
import { Shortcuts } from './shortcuts';

export function App() {
  return (
    <LocationProvider>
      <Gate />
      <Toasts />
    </LocationProvider>
  );
}

/** Lets a user in who has a session; asks others to log in, and then leads on. */
function Gate() {
  const { path, url, query, route } = useLocation();
  const { run, failure } = useAction(loadSession);
  useEffect(() => run(), []);
  const isLogIn = path === '/auth/login';
  const current = user.value;
  useEffect(() => {
    if (current === null && !isLogIn) route(links.logIn(url), true);
    if (current && (isLogIn || path === '/')) route(safeNext(query.next), true);
  }, [current, isLogIn, path, url, query.next, route]);

  useFocusOnPage(path);

  if (failure) {
    return (
      <div class="log-in">
        <Problem failure={failure} retry={run} />
      </div>
    );
  }
  if (current === undefined) return null;
  if (isLogIn || current === null) return <LogIn />;
  return (
    <>
      <a class="button primary skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <Router onRouteChange={() => scrollTo(0, 0)}>
        {pages.map(page => (
          <Route key={page.path} path={page.path} component={page.component} />
        ))}
        <Route path="/repositories/:repository/*" component={RepositoryFrame} />
        <Route default component={Elsewhere} />
      </Router>
      <Palette />
      {hasEnded.value && <LogInAgain />}
      <Shortcuts />
    </>
  );
}

/** Move the focus to the content when the page changes, as a browser does; keys and readers begin there. */
function useFocusOnPage(path: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) document.getElementById('main')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [path]);
}

function Elsewhere() {
  return (
    <main id="main" tabIndex={-1}>
      <NotFound />
    </main>
  );
}

/** Return where to go after the log-in: a path of this page, never another site. */
function safeNext(next: string | undefined): string {
  return next?.startsWith('/') && !/^\/[/\\]/.test(next) && !next.startsWith('/auth/login')
    ? next
    : links.repositories();
}
