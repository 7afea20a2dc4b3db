import type { ResponseContext } from './check.ts';
import { isSuccess } from './exchange.ts';
import type { Remark } from './finding.ts';
import { isKnownFor, occasionProposal } from './observed.ts';

/** Returns the remarks about a response to a request that did not have the right key. */
export function keyRemarks(context: ResponseContext, how: string): readonly Remark[] {
  const { exchange, document, response } = context;
  const { status } = exchange;
  // Too many requests and failures say nothing about keys; the latter are found by server-error.
  if (status === 401 || status === 403 || status === 429 || status >= 500) return [];
  const isServed = isSuccess(status);
  // A client that forgot its key shows only whether the service asks for one.
  if (!isServed && exchange.sent.purpose === 'traffic') return [];
  if (!isServed && isKnownFor(document, response, 'x-for-no-key')) return [];
  return [
    {
      pointer: '',
      verdict: isServed ? 'violation' : 'learned',
      message: isServed ? `a request ${how} is served` : `a request ${how} is refused for another reason than its key`,
      expected: '401',
      observed: String(status),
      at: '/security',
      rule: isServed ? 'served' : String(status),
      proposal: isServed ? undefined : occasionProposal(context, 'x-for-no-key'),
    },
  ];
}
