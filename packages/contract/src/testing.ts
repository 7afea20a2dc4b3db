import { readAnswer } from './answer.ts';
import type { Answer, Purpose } from './answer.ts';
import type { Operation } from './operation.ts';

/** An answer to a request that was made as the document describes, for tests. */
export function answerTo(operation: Operation, body: unknown, more: { readonly status?: number; readonly purpose?: Purpose } = {}): Answer {
  const { status = 200, purpose = 'call' } = more;
  return readAnswer(
    operation,
    {
      method: operation.method,
      url: `http://target.example${operation.path}`,
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
