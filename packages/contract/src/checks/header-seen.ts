import { isPlainCall } from '../exchange.ts';
import type { Check } from '../check.ts';
import { responseFor } from '../operations.ts';

export const headerSeen: Check = {
  id: 'header-seen',
  claim: 'Response headers that the document describes are seen at least once.',
  judges:
    'Looks at all answers of a run together. A header that is described for a status that was answered, and that none of these answers had, is unverified: it may need a situation that the run did not meet. A missing header that is required is found by header-present.',
  client: 'You write code for a header that may not exist. Until it was seen, treat it as absent.',
  applies: ({ responses }) => Object.values(responses).some(({ headers }) => Object.keys(headers).length > 0),
  conclude({ answers }) {
    const found = new Map<string, { readonly answer: (typeof answers)[number]; readonly name: string; isSeen: boolean }>();
    for (const answer of answers) {
      const response = isPlainCall(answer) ? responseFor(answer.operation, answer.status) : undefined;
      for (const [key, { name, required, pointer }] of Object.entries(response?.headers ?? {})) {
        if (required) continue;
        const at = pointer ?? `${response?.holder ?? ''}/headers/${name}`;
        const known = found.get(at);
        const isSeen = answer.headers[key] !== undefined;
        if (known === undefined) found.set(at, { answer, name, isSeen });
        else known.isSeen ||= isSeen;
      }
    }
    return [...found].flatMap(([at, { answer, name, isSeen }]) =>
      isSeen
        ? []
        : [
            {
              answer,
              pointer: '',
              verdict: 'unverified' as const,
              message: `the header ${name} is described and was never seen`,
              expected: `at least one ${name}`,
              observed: 'none in any answer of the run',
              at,
              rule: 'never seen',
            },
          ],
    );
  },
  defect: {
    says: 'A described header is never sent.',
    tamper: ({ operation, outcome, answer }) => {
      const names = Object.keys(operation?.responses[String(answer.status)]?.headers ?? {});
      if (outcome !== 'success' || names.length === 0) return undefined;
      return { ...answer, headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !names.includes(name))) };
    },
  },
};
