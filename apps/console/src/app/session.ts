/** Who uses the console. The session is a cookie that scripts cannot read, so a reload keeps it and no script can take it away. */
import { createClient, createSession, endSession, getSession } from '@reseller/operator-client';
import type { OperationId, Session } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';

import { client } from '../api/client.ts';
import { statusOf } from '../api/problem.ts';
import { operations } from '../document/operations.data.ts';

const KEY = ['session'] as const;

/** A one-time code in the fragment of the address, which browsers send to no server. It is removed from the address at once. */
export function takeSignInCode(): string | undefined {
  const code = /^#code=(rsc_\w+)$/.exec(globalThis.location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', globalThis.location.pathname);
  return code;
}

/** The session; null if there is none. */
export function useSessionQuery(signInCode: string | undefined) {
  return useQuery({
    queryKey: KEY,
    queryFn: () => currentSession(signInCode),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

/** A code is used once. A page that is shown twice, such as by React's strict mode, shares the sign-in. */
let signingIn: Promise<Session | null> | undefined;

async function currentSession(signInCode: string | undefined): Promise<Session | null> {
  try {
    return await getSession({ client });
  } catch (error) {
    if (statusOf(error) !== 401) throw error;
    if (signInCode === undefined) return null;
    signingIn ??= signInWith(signInCode).catch(() => null);
    return signingIn;
  }
}

function signInWith(token: string): Promise<Session> {
  return createSession({ client: createClient({ baseUrl: globalThis.location.origin, token }) });
}

/** @throws AuthenticationError if the token is not valid. */
export async function signIn(queryClient: QueryClient, token: string): Promise<void> {
  queryClient.setQueryData(KEY, await signInWith(token));
}

/** Follows a sign-in link that is opened in a tab that shows the console: only the fragment of the address changes, so the page is not loaded. */
export function followSignInLinks(queryClient: QueryClient): void {
  addEventListener('hashchange', () => {
    const code = takeSignInCode();
    if (code !== undefined && !queryClient.getQueryData(KEY)) void signIn(queryClient, code).catch(() => forgetSession(queryClient));
  });
}

export async function signOut(queryClient: QueryClient): Promise<void> {
  await endSession({ client });
  forgetSession(queryClient);
}

/** Shows the sign-in page, and forgets everything that was shown. */
export function forgetSession(queryClient: QueryClient): void {
  if (queryClient.getQueryData(KEY) === undefined) return;
  queryClient.setQueryData(KEY, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('There is no session.');
  return session;
}

/** Whether the holder may use an operation, and the service has it. */
export function mayUse({ scopes, mode }: Session, id: OperationId): boolean {
  const { scope, sandboxOnly } = operations[id];
  if (sandboxOnly && mode !== 'sandbox') return false;
  return scopes.includes(scope) || scopes.includes('admin');
}

export function useMayUse(id: OperationId): boolean {
  return mayUse(useSession(), id);
}

/** The page of the documentation that a live service serves on the port of the console. */
export const FIRST_DAY = '/docs/operator/first-day';
