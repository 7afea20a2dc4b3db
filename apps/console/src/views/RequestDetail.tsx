import type { AccountRequest } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';

import { queryOf } from '../api/queries.ts';
import { curlOf, matching, typescriptOf } from '../api/snippets.ts';
import { useMayUse, useSession } from '../app/session.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton } from '../ui/Actions.tsx';
import { Button, CopyButton, Facts, Failure, Instant, Json, Money, Section, ShortId } from '../ui/controls.tsx';
import { RequestResult } from '../ui/RequestResult.tsx';
import { resourcePage } from '../ui/resource-page.ts';
import { visible } from '../ui/visible.ts';

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
  const aside = useRef<HTMLElement>(null);
  // The focus goes into the request, and back to the row from which it was opened.
  useEffect(() => {
    const before = document.activeElement;
    aside.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <aside
      ref={aside}
      tabIndex={-1}
      className="detail"
      aria-label="Request"
      aria-busy={query.isLoading}
      onKeyDown={({ key, defaultPrevented }) => {
        if (key === 'Escape' && !defaultPrevented) onClose();
      }}
    >
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
        {operation && <ActionButton id="createFault" label="Let it fail" current={{ operations: [operation.id] }} />}
      </div>
      {isReplaying && (
        <Suspense fallback={<p className="muted">Loading</p>}>
          <Replay request={request} accountId={accountId} />
        </Suspense>
      )}
      <Facts
        items={[
          ['Result', <RequestResult key="result" request={request} />],
          ['Took', request.duration_ms === null ? 'not recorded' : `${request.duration_ms} ms`],
          ['Bought', <BoughtThing key="bought" request={request} />],
          ['Billed by', <Position key="position" request={request} />],
          ['Operation', <code key="operation">{operation?.id ?? 'none'}</code>],
          ['Account', <AccountName key="account" id={accountId} names={names} />],
          ['API key', <KeyName key="key" request={request} />],
          ['Idempotency-Key', <IdempotencyKey key="idempotency" request={request} />],
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

interface OfRequest {
  readonly request: AccountRequest;
}

function BoughtThing({ request: { bought } }: OfRequest) {
  if (bought === null) return 'nothing';
  const { kind, subject, price } = bought;
  return (
    <>
      <Link href={resourcePage(kind, subject) ?? ''}>{subject}</Link> for <Money amount={price} /> EUR net
      {kind === 'vm' ? ' for 30 days' : ''}
    </>
  );
}

/** The position of a purchase, and the invoice or the account where its line is. */
function Position({ request: { position, account_id } }: OfRequest) {
  if (position === null) return 'nothing';
  const { type, start, invoice_id, invoice_number } = position;
  return (
    <>
      {type} since <Instant at={start} /> on{' '}
      {invoice_id === null ? (
        <Link href={`/accounts/${account_id}`}>the current invoice</Link>
      ) : (
        <Link href={`/invoices/${encodeURIComponent(invoice_number ?? invoice_id)}`}>{invoice_number ?? invoice_id}</Link>
      )}
    </>
  );
}

/** The key by its name. The service shows no key itself. */
function KeyName({ request: { api_key_id: id, account_id } }: OfRequest) {
  const { data } = useQuery({ ...queryOf('listApiKeys', { path: { account_id } }), enabled: useMayUse('listApiKeys') && id !== null });
  if (id === null) return 'not recorded';
  const label = data?.items.find((key) => key.id === id)?.label;
  return (
    <>
      {label !== undefined && `${visible(label)} `}
      <ShortId id={id} />
    </>
  );
}

function IdempotencyKey({ request: { idempotency_key: key, is_replay } }: OfRequest) {
  if (key === null) return 'none';
  return (
    <>
      <code>{visible(key)}</code>
      {is_replay === true && ', repeated: the response is that of the first request'}{' '}
      <Link href={`/?search&${new URLSearchParams({ idempotency_key: key })}`}>All requests with it</Link>
    </>
  );
}
