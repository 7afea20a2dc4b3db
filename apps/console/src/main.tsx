import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';

import { whenSignedOut } from './api/client.ts';
import { App } from './app/App.tsx';
import { followSignInLinks, forgetSession, takeSignInCode } from './app/session.ts';
import { BASE } from './base.ts';

const queryClient = new QueryClient({
  defaultOptions: {
    // The client itself repeats what is harmless.
    queries: { retry: false, staleTime: 2_000 },
  },
});
whenSignedOut(() => forgetSession(queryClient));
followSignInLinks(queryClient);
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
