import type { Check } from '../check.ts';
import { isPlainCall } from '../exchange.ts';
import { responseFor } from '../operations.ts';

export const headerSeen: Check = {
  id: 'header-seen',
  claim: 'Response headers that the document describes are seen at least once.',
  judges:
    'Looks at all responses of a run together. A header that is described for an observed status, but that none of these responses had, is unverified: it may need a situation that the run did not meet. A missing header that is required is found by header-present.',
  client: 'You write code for a header that may not exist. Until it was seen, treat it as absent.',
  applies: ({ responses }) => Object.values(responses).some(({ headers }) => Object.keys(headers).length > 0),
  checkRun({ exchanges }) {
    const found = new Map<string, { readonly exchange: (typeof exchanges)[number]; readonly name: string; isSeen: boolean }>();
    for (const exchange of exchanges) {
      const response = isPlainCall(exchange) ? responseFor(exchange.operation, exchange.status) : undefined;
      for (const [key, { name, required, pointer }] of Object.entries(response?.headers ?? {})) {
        if (required) continue;
        const at = pointer ?? `${response?.holder ?? ''}/headers/${name}`;
        const known = found.get(at);
        const isSeen = exchange.headers[key] !== undefined;
        if (known === undefined) found.set(at, { exchange, name, isSeen });
        else known.isSeen ||= isSeen;
      }
    }
    return [...found].flatMap(([at, { exchange, name, isSeen }]) =>
      isSeen
        ? []
        : [
            {
              exchange,
              pointer: '',
              verdict: 'unverified' as const,
              message: `the header ${name} is described and was never seen`,
              expected: `at least one ${name}`,
              observed: 'none in any response of the run',
              at,
              rule: 'never seen',
            },
          ],
    );
  },
  defect: {
    description: 'A described header is never sent.',
    tamper: ({ operation, outcome, response }) => {
      const names = Object.keys(operation?.responses[String(response.status)]?.headers ?? {});
      if (outcome !== 'success' || names.length === 0) return undefined;
      return { ...response, headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !names.includes(name))) };
    },
  },
};
