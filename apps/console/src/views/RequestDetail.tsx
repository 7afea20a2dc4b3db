import type { AccountRequest } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';

import { queryOf } from '../api/queries.ts';
import { curlOf, matching, typescriptOf } from '../api/snippets.ts';
import { useMayUse, useSession } from '../app/session.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { Button, CopyButton, Facts, Failure, Instant, Json, Result, Section } from '../ui/controls.tsx';

const Replay = lazy(async () => ({ default: (await import('./Replay.tsx')).Replay }));

interface Props {
  readonly accountId: string;
  readonly number: number;
  readonly onClose: () => void;
}

/** One exchange with its bodies. The service has masked the secrets. */
export function RequestDetail({ accountId, number, onClose }: Props) {
  const mayRead = useMayUse('getAccountRequest');
  const query = useQuery({
    ...queryOf('getAccountRequest', { path: { account_id: accountId, number } }),
    staleTime: Infinity,
    enabled: mayRead,
  });
  return (
    <aside className="detail" aria-label="Request" aria-busy={query.isLoading}>
      <div className="section-head">
        <h2 className="mono ellipsis">{query.data ? `${query.data.method} ${query.data.endpoint}` : 'Request'}</h2>
        <Button onClick={onClose}>Close</Button>
      </div>
      {!mayRead && <p>Bodies may contain personal data. Reading them needs the scope support.</p>}
      {query.error !== null && <Failure error={query.error} />}
      {query.data && <Exchange request={query.data} accountId={accountId} />}
    </aside>
  );
}

function Exchange({ request, accountId }: { readonly request: AccountRequest; readonly accountId: string }) {
  const { reseller_api: baseUrl } = useSession();
  const names = useAccountNames();
  const [isReplaying, setReplaying] = useState(false);
  const operation = matching(request);
  return (
    <>
      <div className="toolbar start">
        <CopyButton text={curlOf(request, baseUrl)}>Copy as curl</CopyButton>
        <CopyButton text={typescriptOf(request, baseUrl)}>Copy as TypeScript</CopyButton>
        {operation && (
          <Button onClick={() => setReplaying(!isReplaying)} aria-expanded={isReplaying}>
            Replay
          </Button>
        )}
      </div>
      {isReplaying && (
        <Suspense fallback={<p className="muted">Loading</p>}>
          <Replay request={request} accountId={accountId} />
        </Suspense>
      )}
      <Facts
        items={[
          ['Result', <Result key="result" errorType={request.error_type} />],
          ['Operation', <code key="operation">{operation?.id ?? 'none'}</code>],
          ['Account', <AccountName key="account" id={accountId} names={names} />],
          ['Time (UTC)', <Instant key="time" at={request.time} />],
          ['Request ID', <code key="id">{request.request_id}</code>],
        ]}
      />
      <Section title="Request body">
        <Json text={request.request_body} label="Request body" />
      </Section>
      <Section title="Response body">
        <Json text={request.response_body} label="Response body" />
      </Section>
    </>
  );
}
