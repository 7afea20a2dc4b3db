import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';

import { configureClient } from './api/client.ts';
import { statusOf } from './api/problem.ts';
import { App } from './app/App.tsx';
import { forgetSession, takeSignInCode } from './app/session.ts';
import { BASE } from './base.ts';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refused request is refused again. A service that cannot be reached may be reachable a moment later.
      retry: (count, error) => count < 2 && (statusOf(error) ?? 0) === 0,
      retryDelay: 500,
      staleTime: 2_000,
    },
  },
});
configureClient(() => forgetSession(queryClient));
const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Router base={BASE}>
          <App signInCode={takeSignInCode()} />
        </Router>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
