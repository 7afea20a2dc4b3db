import type { Operation } from '../../document/operation.ts';
import { isEntityTag } from '../../document/parameters.ts';
import { isPlainCall, isSuccess, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { REFUSED } from '../assertion.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { RunRemark } from '../finding.ts';

export const preconditionKept: Check = {
  id: 'precondition-kept',
  claim: 'A change with `If-Match` is made only when the entity tag is current, and the tag changes with the resource.',
  example: 'The tag of an order is `"v2"`, and `PATCH` with `If-Match: "v1"` returns 200.',
  judges:
    'For operations with the header `If-Match`: sends the tag of the latest response, a stale tag and, where the document requires the header, no tag. Any 4xx refuses a stale or missing tag. Where the document has 304, sends a read with `If-None-Match` and the current tag. Compares the bodies of reads with the same strong tag.',
  client: 'Two users who edit the same resource overwrite the changes of each other without an error, or the right tag is refused.',
  needs: ['precondition', 'call', 'valid-form'],
  applies: ({ parameters, responses }) => parameters.some(isEntityTag) || responses['200']?.headers['etag'] !== undefined,
  checkResponse({ exchange }) {
    const { operation, sent, status } = exchange;
    const tag = sent.headers['if-match'];
    const known = sent.headers['if-none-match'];
    const isWhole = known !== undefined && status === 200 && exchange.headers['etag'] === known && operation.responses['304'] !== undefined;
    if (isWhole && isPlainCall(exchange))
      return [
        {
          pointer: '',
          verdict: verdictOf(operation.provenance),
          message: 'the service sends the whole resource for its current entity tag',
          expected: '304',
          observed: '200',
          at: operation.pointer,
          rule: 'not modified',
          assertion: { kind: 'status', pattern: '^(?!200)' },
        },
      ];
    const isServed = sent.purpose === 'precondition' && isSuccess(status);
    const isRefused = isPlainCall(exchange) && tag !== undefined && status === 412;
    if (!isServed && !isRefused) return [];
    const how = tag === undefined ? 'without If-Match' : 'with a stale If-Match';
    return [
      {
        pointer: '',
        verdict: verdictOf(operation.provenance),
        message: isServed ? `the service makes a change ${how}` : 'the service refuses a change with the entity tag of its latest response',
        expected: isServed ? (tag === undefined ? '428 or another 4xx' : '412') : 'success',
        observed: String(status),
        at: operation.parameters.find(isEntityTag)?.holder ?? operation.pointer,
        rule: isServed ? how : 'refused',
        assertion: isServed ? REFUSED : { kind: 'status', pattern: '^(?!412)' },
      },
    ];
  },
  checkRun: ({ exchanges }) => sameTags(exchanges),
};

/** Reads of one resource with the same strong entity tag and different bodies. */
function sameTags(exchanges: readonly Exchange[]): readonly RunRemark[] {
  const last = new Map<string, Exchange>();
  const found = new Map<Operation, RunRemark>();
  for (const exchange of exchanges) {
    const { sent, headers, status, operation } = exchange;
    const tag = headers['etag'];
    if (sent.method !== 'GET' || sent.credential !== 'account' || !isSuccess(status) || !tag?.startsWith('"')) continue;
    const before = last.get(sent.url);
    last.set(sent.url, exchange);
    const isSame = before?.headers['etag'] === tag && before.mediaType === exchange.mediaType;
    if (!isSame || JSON.stringify(jsonValue(before)) === JSON.stringify(jsonValue(exchange))) continue;
    found.set(operation, {
      exchange,
      pointer: '',
      verdict: 'violation',
      message: 'two reads with the same entity tag have different bodies',
      expected: 'another ETag after a change',
      observed: 'the same ETag',
      at: operation.responses[String(status)]?.holder ?? operation.pointer,
      rule: 'same tag',
      assertion: { kind: 'tags-differ' },
      shownBy: [before, exchange],
    });
  }
  return [...found.values()];
}
