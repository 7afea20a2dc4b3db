import { getDueWork } from '@reseller/operator-client';
import type { AccountRequest } from '@reseller/operator-client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';

import { client } from '../api/client.ts';
import { issueKey, keyOf, rememberKey, replay } from '../api/replay.ts';
import { useFeedControl } from '../app/feed.tsx';
import { useMayUse, useSession } from '../app/session.ts';
import { Button, Failure, Json, Status } from '../ui/controls.tsx';

/** Sends a logged request again, with the body as it was or changed. */
export function Replay({ request, accountId }: { readonly request: AccountRequest; readonly accountId: string }) {
  const [key, setKey] = useState(() => keyOf(accountId));
  function use(next: string | undefined): void {
    if (next !== undefined) rememberKey(accountId, next);
    setKey(next);
  }
  return (
    <div className="replay">
      {key === undefined ? <AskForKey accountId={accountId} onKey={use} /> : <SendAgain request={request} apiKey={key} />}
    </div>
  );
}

function AskForKey({ accountId, onKey }: { readonly accountId: string; readonly onKey: (key: string | undefined) => void }) {
  const { mode } = useSession();
  const mayIssue = useMayUse('issueApiKey') && mode === 'sandbox';
  const issue = useMutation({
    async mutationFn() {
      const { now } = await getDueWork({ client, query: { limit: 1 } });
      await issueKey(accountId, now);
    },
    onSuccess: () => onKey(keyOf(accountId)),
  });
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('key');
    if (typeof given === 'string' && given !== '') onKey(given);
  }
  return (
    <form onSubmit={submit}>
      <p>A replay is a request of the account, so it needs one of its API keys. This page keeps the key in memory until you leave it.</p>
      <label className="field">
        <span className="label">API key of the account</span>
        <input name="key" type="password" autoComplete="off" spellCheck={false} />
      </label>
      <div className="toolbar start">
        <Button type="submit">Use this key</Button>
        {mayIssue && (
          <Button onClick={() => issue.mutate()} disabled={issue.isPending}>
            Issue a key for an hour
          </Button>
        )}
      </div>
      {issue.error !== null && <Failure error={issue.error} />}
    </form>
  );
}

function SendAgain({ request, apiKey }: { readonly request: AccountRequest; readonly apiKey: string }) {
  const { reseller_api: baseUrl } = useSession();
  const feed = useFeedControl();
  const [body, setBody] = useState(() => pretty(request.request_body));
  const sending = useMutation({
    mutationFn: () => replay({ ...request, request_body: body }, { baseUrl, key: apiKey }),
    onSuccess: () => feed?.poll(),
  });
  return (
    <div>
      <label className="field">
        <span className="label">Parameters</span>
        <textarea className="mono" rows={6} value={body} spellCheck={false} onChange={({ target }) => setBody(target.value)} />
        <span className="hint">Replace values that are masked as ***. A purchase is made, and paid for, again.</span>
      </label>
      <div className="toolbar start">
        <Button kind="primary" onClick={() => sending.mutate()} disabled={sending.isPending}>
          Send {request.method} {request.endpoint}
        </Button>
      </div>
      {sending.error && (
        <p className="error">
          The request could not be sent from this page. Open the console at the address that the service printed, or copy the request as
          curl.
        </p>
      )}
      {sending.data && (
        <div aria-live="polite">
          <p>
            <Status value={sending.data.status < 400 ? 'succeeded' : 'failed'} /> HTTP {sending.data.status}
          </p>
          <Json text={sending.data.body} label="Response to the replay" />
        </div>
      )}
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
