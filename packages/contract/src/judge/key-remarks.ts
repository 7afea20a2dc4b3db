import { isSuccess } from '../exchange/exchange.ts';
import type { SentRequest } from '../exchange/exchange.ts';
import type { ResponseContext } from './check.ts';
import type { Remark } from './finding.ts';
import { isKnownFor, occasionProposal } from './observed.ts';

/** Judges the response to a request without a key or with a wrong one. */
export function keyRemarks(context: ResponseContext, how: string): readonly Remark[] {
  const { exchange, exchanges, document, response } = context;
  const { status } = exchange;
  // 429 and failures do not show whether the service checks keys. The check server-error reports failures.
  if (status === 401 || status === 403 || status === 429 || status >= 500) return [];
  const isServed = isSuccess(status);
  // A service that has nothing there for anyone says nothing about keys.
  const same = exchanges.find(({ sent, status: other }) => other === status && isSameRequest(sent, exchange.sent));
  if (!isServed && same?.sent.purpose === 'call') return [];
  // A recorded request without a key may have been refused for any reason.
  if (!isServed && exchange.sent.purpose === 'traffic') return [];
  if (!isServed && isKnownFor(document, response, 'x-for-no-key')) return [];
  return [
    {
      pointer: '',
      verdict: isServed ? 'violation' : same === undefined ? 'learned' : 'unverified',
      message: isServed ? `the service accepts a request ${how}` : `the service refuses a request ${how}, but for another reason`,
      expected: '401',
      observed: String(status),
      at: '/security',
      rule: isServed ? 'served' : String(status),
      assertion: { kind: 'status', pattern: '^(?:401|403)' },
      proposal: isServed || same !== undefined ? undefined : occasionProposal(context, 'x-for-no-key'),
    },
  ];
}

function isSameRequest(one: SentRequest, other: SentRequest): boolean {
  return one.method === other.method && one.credential === 'account' && one.url === other.url;
}
