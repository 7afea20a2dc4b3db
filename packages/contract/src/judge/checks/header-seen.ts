import { responseFor } from '../../document/operations.ts';
import { isPlainCall } from '../../exchange/exchange.ts';
import type { Check } from '../check.ts';

export const headerSeen: Check = {
  id: 'header-seen',
  claim: 'At least one response has each response header that the document describes.',
  judges:
    'Judges all responses of a run together. A header that no response with its status had is unverified, because it may need a situation that did not occur in the run. The check header-present reports missing required headers.',
  client: 'The header may not exist. Write code that works without it.',
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
              message: `the document describes the header ${name}, but no response had it`,
              expected: `at least one ${name}`,
              observed: 'none in any response of the run',
              at,
              rule: 'never seen',
            },
          ],
    );
  },
  defect: {
    description: 'The service never sends a described header.',
    tamper: ({ operation, outcome, response }) => {
      const names = Object.keys(operation?.responses[String(response.status)]?.headers ?? {});
      if (outcome !== 'success' || names.length === 0) return undefined;
      return { ...response, headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !names.includes(name))) };
    },
  },
};
