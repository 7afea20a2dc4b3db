import type { RequestSummary } from '@reseller/operator-client';

import { visible } from './visible.ts';

/** The status, and why it failed in the words of the response, or that nothing was carried out again. A phone shows the type of the error. */
export function RequestResult({ request }: { readonly request: RequestSummary }) {
  const { status, error_type, error_message, is_replay } = request;
  const why = error_message ?? error_type;
  return (
    <span className={`status ellipsis ${why === null ? 'good' : 'bad'}`} title={visible(why ?? '')}>
      {status} <span className="words">{visible(why ?? (is_replay ? 'repeated' : 'succeeded'))}</span>
      {error_type !== null && <span className="type">{error_type}</span>}
    </span>
  );
}
