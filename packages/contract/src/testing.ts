import { readAnswer } from './exchange.ts';
import type { Answer, Purpose } from './exchange.ts';
import type { PathValues } from './discover.ts';
import type { Operation } from './operation.ts';
import { fillPath } from './path-template.ts';

/** An answer to a request that was made as the document describes, for tests. */
export function answerTo(
  operation: Operation,
  body: unknown,
  more: { readonly status?: number; readonly purpose?: Purpose; readonly path?: PathValues } = {},
): Answer {
  const { status = 200, purpose = 'call', path = {} } = more;
  return readAnswer(
    operation,
    {
      method: operation.method,
      url: `http://target.example${fillPath(operation.path, path)}`,
      headers: {},
      body: undefined,
      credential: 'account',
      purpose,
      detail: '',
      at: '',
    },
    { status, headers: { 'content-type': 'application/json' }, bytes: new TextEncoder().encode(JSON.stringify(body)), milliseconds: 1 },
  );
}
