import { useQueryClient } from '@tanstack/react-query';

import { messageOf } from '../api/problem.ts';
import { Button } from '../ui/controls.tsx';
import { OperationProvider } from '../ui/OperationDialog.tsx';
import { FeedProvider } from './feed.tsx';
import { SessionContext, useSessionQuery } from './session.ts';
import { Shell } from './Shell.tsx';
import { SignIn } from './SignIn.tsx';

export function App({ signInCode }: { readonly signInCode: string | undefined }) {
  const queryClient = useQueryClient();
  const session = useSessionQuery(signInCode);
  if (session.isPending) return <main className="lonely" aria-busy="true" />;
  if (session.isError)
    return (
      <main className="lonely">
        <h1>The service cannot be reached</h1>
        <p>{messageOf(session.error)}</p>
        <Button onClick={() => void session.refetch()}>Try again</Button>
      </main>
    );
  if (session.data === null) return <SignIn queryClient={queryClient} />;
  return (
    <SessionContext value={session.data}>
      <FeedProvider>
        <OperationProvider>
          <Shell />
        </OperationProvider>
      </FeedProvider>
    </SessionContext>
  );
}
