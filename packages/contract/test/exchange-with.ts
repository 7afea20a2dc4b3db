import type { Operation } from '../src/document/operation.ts';
import { fillPath } from '../src/document/path-template.ts';
import type { PathValues } from '../src/exchange/discover.ts';
import { readExchange } from '../src/exchange/exchange.ts';
import type { Credential, Exchange, Purpose } from '../src/exchange/exchange.ts';

/** An exchange with a valid request, for tests. */
export function exchangeWith(
  operation: Operation,
  body: unknown,
  more: { readonly status?: number; readonly purpose?: Purpose; readonly path?: PathValues; readonly credential?: Credential } = {},
): Exchange {
  const { status = 200, purpose = 'call', path = {}, credential = 'account' } = more;
  return readExchange(
    operation,
    {
      method: operation.method,
      url: `http://target.example${fillPath(operation.path, path)}`,
      headers: {},
      body: undefined,
      credential,
      purpose,
      detail: '',
      at: '',
    },
    { status, headers: { 'content-type': 'application/json' }, bytes: new TextEncoder().encode(JSON.stringify(body)), milliseconds: 1 },
  );
}
