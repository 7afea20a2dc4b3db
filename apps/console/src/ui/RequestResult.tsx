import type { RequestSummary } from '@reseller/operator-client';

/** The status, and why it failed or that nothing was carried out again. */
export function RequestResult({ request }: { readonly request: RequestSummary }) {
  const { status, error_type, is_replay } = request;
  return (
    <span className={`status ${error_type === null ? 'good' : 'bad'}`}>
      {status} {error_type ?? (is_replay ? 'repeated' : 'succeeded')}
    </span>
  );
}
