/** The whole page: the log-in in front, then the header and the page of the address. */

import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useAction } from '../api/resource';
import { hasEnded, isNew, loadSession, user } from '../api/session';
import { decoded, links, repositoryOf, safeNext } from '../links';
import { LogIn, LogInAgain } from '../pages/log-in';
import { Setup } from '../pages/setup';
import { Button, LinkButton } from '../parts/button';
import { Notice, Problem } from '../parts/state';
import { Toasts } from '../parts/toast';
import { pages } from '../routes';
import styles from './app.module.css';
import { Header } from './header';
import { NotFound } from './not-found';
import { Palette } from './palette';
import { RepositoryFrame } from './repository';
import { Shortcuts } from './shortcuts';

export function App() {
  const [error] = useErrorBoundary(reason => console.error(reason));
  if (error) return <Broken error={error} />;
  return (
    <LocationProvider>
      <Gate />
      <Toasts />
      <MissingPart />
    </LocationProvider>
  );
}

/** Tells that a module did not load: the connection is lost, or a new version has replaced it. */
function MissingPart() {
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    const onMissing = () => setMissing(true);
    addEventListener('vite:preloadError', onMissing);
    return () => removeEventListener('vite:preloadError', onMissing);
  }, []);
  if (!isMissing) return null;
  return (
    <div class="toasts">
      <Notice kind="danger">
        <div class="stack tight">
          A part of this page did not load. Check the connection, then load the page again.
          <Button isSmall icon="refresh" onClick={() => location.reload()}>
            Load again
          </Button>
        </div>
      </Notice>
    </div>
  );
}

/** What is left of the page after a mistake of ours. */
function Broken({ error }: { error: unknown }) {
  return (
    <main class="log-in" id="main">
      <div class="stack">
        <Notice kind="danger">
          This page has failed, and that is our mistake: {String(error)}. What the server has taken
          is safe.
        </Notice>
        <div class="bar">
          <Button onClick={() => location.reload()}>Load the page again</Button>
          <LinkButton href={links.repositories()}>All repositories</LinkButton>
        </div>
      </div>
    </main>
  );
}

/** Lets a user in who has a session; asks others to log in, and then leads on. */
function Gate() {
  const { path, url, query, route } = useLocation();
  const { run, failure } = useAction(async () => {
    await loadSession();
    if (user.value === null && (await isNew())) route(links.setup(), true);
  });
  useEffect(() => {
    run();
  }, []);
  const isLogIn = path === '/auth/login';
  const isSetup = path === links.setup();
  const current = user.value;
  useEffect(() => {
    if (current === null && !isLogIn && !isSetup) route(links.logIn(url), true);
    if (current && (isLogIn || isSetup || path === '/')) route(safeNext(query.next), true);
    // As lakeFS's page does, a repository begins with its objects.
    else if (current && /^\/repositories\/[^/]+\/?$/.test(path))
      route(links.objects(repositoryOf(path)), true);
  }, [current, isLogIn, isSetup, path, url, query.next, route]);

  useFocusOnPage(path);

  if (failure) {
    return (
      <div class="log-in">
        <Problem failure={failure} retry={run} />
      </div>
    );
  }
  if (current === undefined) return null;
  if (isSetup) return <Setup />;
  if (isLogIn || current === null) return <LogIn />;
  return (
    <>
      <a class={`button primary ${styles.skip}`} href="#main">
        Skip to the content
      </a>
      <Header />
      {decoded(path) === undefined ? <Elsewhere /> : <Pages />}
      <Palette />
      {hasEnded.value && <LogInAgain />}
      <Shortcuts />
    </>
  );
}

/** The page of the address. */
function Pages() {
  return (
    <Router onRouteChange={() => scrollTo(0, 0)}>
      {pages.map(page => (
        <Route key={page.path} path={page.path} component={page.component} />
      ))}
      <Route path="/repositories/:repository/*" component={RepositoryFrame} />
      <Route default component={Elsewhere} />
    </Router>
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
