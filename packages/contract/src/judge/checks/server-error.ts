import type { OperationResponse } from '../../document/operation.ts';
import type { Exchange, Purpose } from '../../exchange/exchange.ts';
import { always } from '../applies.ts';
import type { Check } from '../check.ts';

/** Describes the requests that differ from a plain call. */
const TRIED: Partial<Readonly<Record<Purpose, string>>> = {
  'no-key': ' for a request without a key',
  'wrong-key': ' for a made-up key',
  'unknown-id': ' for an identifier that does not exist',
  'invalid-form': ' for an invalid form',
  'invalid-parameter': ' for an invalid query parameter',
  method: ' for an undescribed method',
  'next-page': ' for the next page',
  'remove-again': ' for the removal of a removed resource',
  'read-removed': ' for the read of a removed resource',
};

/** @param response The described response of the status, if there is one. */
export function isServerError({ status, sent }: Exchange, response: OperationResponse | undefined): boolean {
  if (status < 500 || status === 501) return false;
  return status !== 503 || (response === undefined && sent.purpose !== 'method');
}

export const serverError: Check = {
  id: 'server-error',
  claim: 'No request makes the service fail.',
  example: '`GET /orders?limit=many` returns 500.',
  judges:
    'Reports every 5xx, described or not, except 501 (not implemented) and a described 503 (temporarily unavailable). Operations that fail with the same status for requests with the same purpose are one finding; so are all 502, 503 and 504, which say that the service is not available.',
  client: 'The client throws an error after its retries. After a change you cannot tell whether it took place.',
  undescribed: 'also',
  applies: always,
  checkResponse({ exchange, response }) {
    if (!isServerError(exchange, response)) return [];
    const { status, operation, sent } = exchange;
    // An unavailable service fails whatever the request is.
    const tried = status >= 502 && status <= 504 ? undefined : sent.purpose;
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: `the service fails with ${status}${tried === undefined ? '' : (TRIED[tried] ?? '')}`,
        expected: 'a response below 500',
        observed: `${status}${sent.detail === '' ? '' : ` for ${sent.detail}`}`,
        at: `${operation.pointer}/responses`,
        rule: `${status} ${tried ?? ''}`,
        cause: 'failure',
        assertion: { kind: 'status', pattern: '^[1-4]' },
      },
    ];
  },
};
