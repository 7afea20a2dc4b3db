import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';

import { queryOf } from '../api/queries.ts';
import { Button, EmptyState, Instant } from '../ui/controls.tsx';
import { ErrorBoundary } from '../ui/ErrorBoundary.tsx';
import { useFeed, useFeedControl } from './feed.tsx';
import { Palette } from './Palette.tsx';
import { FIRST_DAY, mayUse, signOut, useSession } from './session.ts';
import { AccountPage, DomainPage, HostSystemPage, InvoicePage, ServerPage, TldPage, VIEWS, VmPage } from './views.tsx';
import type { View } from './views.tsx';

/** The frame of every page: navigation, the clock, the state of the connection. */
export function Shell() {
  const session = useSession();
  const [location] = useLocation();
  const views = VIEWS.filter(({ needs }) => mayUse(session, needs));
  const current = views.find(({ path }) => isAt(path, location));
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${current?.title ?? 'Console'} · Console`;
  }, [current]);
  return (
    <div className="shell">
      <a href="#main" className="skip" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <Header views={views} />
      <Navigation views={views} location={location} />
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionNotice />
        {session.mode === 'live' && <SetUpNotice />}
        <ErrorBoundary key={current?.path ?? location} fallback={<FailedPage />}>
          <Suspense fallback={<p className="muted loading">Loading</p>}>
            <Pages views={views} />
          </Suspense>
        </ErrorBoundary>
      </main>
    </div>
  );
}

function Pages({ views }: { readonly views: readonly View[] }) {
  return (
    <Switch>
      {views.map(({ path, component: Page }) => (
        <Route key={path} path={path}>
          <Page />
        </Route>
      ))}
      {/* The list of requests stays next to the request that is shown. */}
      <Route path="/requests/:account/:number">{() => <RequestsPage views={views} />}</Route>
      <Route path="/accounts/:id">{({ id }) => <AccountPage key={id} id={id} />}</Route>
      <Route path="/vms/:id">{({ id }) => <VmPage key={id} id={id} />}</Route>
      <Route path="/servers/:id">{({ id }) => <ServerPage key={id} id={id} />}</Route>
      <Route path="/domains/:name">{({ name }) => <DomainPage key={name} name={decodeURIComponent(name)} />}</Route>
      <Route path="/invoices/:id">{({ id }) => <InvoicePage key={id} id={decodeURIComponent(id)} />}</Route>
      <Route path="/nodes/:name">{({ name }) => <HostSystemPage key={name} name={name} />}</Route>
      <Route path="/catalogue/:tld">{({ tld }) => <TldPage key={tld} tld={tld} />}</Route>
      <Route>
        <EmptyState title="There is no such page" text="Choose one in the navigation, or press Ctrl+K." />
      </Route>
    </Switch>
  );
}

/** A page that was opened while the service could not be reached is loaded when it can be. */
function FailedPage() {
  const { connection } = useFeed();
  const wasLost = useRef(false);
  useEffect(() => {
    if (connection === 'lost') wasLost.current = true;
    else if (wasLost.current) globalThis.location.reload();
  }, [connection]);
  return (
    <EmptyState
      title="This page failed"
      text={
        <>
          <p>It is loaded again when the service can be reached. If it fails then too, report it with its address.</p>
          <Button onClick={() => globalThis.location.reload()}>Load it again</Button>
        </>
      }
    />
  );
}

function RequestsPage({ views }: { readonly views: readonly View[] }) {
  const Page = views.find(({ path }) => path === '/')?.component;
  return Page === undefined ? null : <Page />;
}

function Header({ views }: { readonly views: readonly View[] }) {
  const session = useSession();
  const queryClient = useQueryClient();
  return (
    <header className="top">
      <Link href="/" className="brand">
        Console
      </Link>
      <span className={`mode ${session.mode}`}>{session.mode}</span>
      {session.mode === 'sandbox' && <ClockInHeader />}
      <span className="spring" />
      <Palette views={views} />
      <Button kind="quiet" onClick={() => void signOut(queryClient)} title={`Signed in as ${session.name}`}>
        Sign out
      </Button>
    </header>
  );
}

/** The clock of a sandbox. If it goes back, a snapshot was restored or the sandbox was reset, so nothing that is shown is right. */
function ClockInHeader() {
  const { data } = useQuery({ ...queryOf('getClock', {}), refetchInterval: 2_000 });
  const queryClient = useQueryClient();
  const feed = useFeedControl();
  const now = data?.now;
  const [latest, setLatest] = useState('');
  useEffect(() => {
    if (now === undefined) return;
    if (now < latest) {
      feed?.clear();
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    }
    setLatest(now);
  }, [now, latest, feed, queryClient]);
  if (data === undefined) return null;
  return (
    <Link href="/clock" className="header-clock">
      <Instant at={data.now} />
      <span className="wide-only"> UTC</span>
    </Link>
  );
}

function Navigation({ views, location }: { readonly views: readonly View[]; readonly location: string }) {
  const groups = [...new Set(views.map(({ group }) => group))];
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    function showCurrent(): void {
      strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    }
    showCurrent();
    globalThis.addEventListener('resize', showCurrent);
    return () => globalThis.removeEventListener('resize', showCurrent);
  }, [location]);
  return (
    <nav aria-label="Pages" ref={strip}>
      {groups.map((group) => (
        <ul key={group} aria-label={group}>
          <li className="nav-group" aria-hidden="true">
            {group}
          </li>
          {views
            .filter((view) => view.group === group)
            .map(({ path, title }) => (
              <li key={path}>
                <Link href={path} className="nav-link" {...(isAt(path, location) ? { 'aria-current': 'page' as const } : {})}>
                  {title}
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

function isAt(path: string, location: string): boolean {
  if (path === '/') return location === '/' || location.startsWith('/requests/');
  return location === path || location.startsWith(`${path}/`);
}

/** What a live service needs before it issues a key that can buy. */
function SetUpNotice() {
  const { data } = useQuery({ ...queryOf('getSettings', {}), refetchInterval: 10_000 });
  if (data === undefined || data.missing.length === 0) return null;
  const names = data.missing.map((name) => (name === 'seller' ? 'the seller' : 'the VAT rates')).join(' and ');
  return (
    <p className="notice">
      No key that can buy is issued before you <Link href="/settings">set {names}</Link>. See{' '}
      <a href={FIRST_DAY}>the first day of a provider</a>.
    </p>
  );
}

function ConnectionNotice() {
  const { connection } = useFeed();
  return (
    <div role="status">
      {connection === 'lost' && (
        <p className="notice">The connection to the service is lost. What you see may be out of date. The console keeps trying.</p>
      )}
    </div>
  );
}
