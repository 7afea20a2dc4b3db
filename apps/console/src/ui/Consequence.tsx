import type { OperationId } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { useMayUse } from '../app/session.ts';
import { evaluateConsequence, readSentence } from '../document/consequence.ts';
import { operations } from '../document/operations.data.ts';

interface Props {
  readonly id: OperationId;
  readonly request: Sent;
}

/** What an operation means for the resource of the form, in amounts. */
export function Consequence({ id, request }: Props) {
  const { consequence: described } = operations[id];
  const consequence = described && evaluateConsequence(described, request);
  const reads = described?.reads ?? id;
  const { path: template } = operations[reads];
  const parameters = Object.entries(consequence?.parameters ?? {});
  const [path, query] = [true, false].map((isInPath) =>
    Object.fromEntries(parameters.filter(([name]) => template.includes(`{${name}}`) === isInPath)),
  );
  const mayRead = useMayUse(reads);
  const { data: text } = useQuery({
    queryKey: [reads, 'consequence', consequence],
    // A query must not return undefined.
    queryFn: async ({ signal }) =>
      (consequence && (await readSentence(consequence, (cursor) => send(reads, { path, query: { ...query, cursor } }, signal)))) ?? null,
    enabled: consequence !== undefined && mayRead,
  });
  return text === undefined || text === null ? null : (
    <p className="strong" aria-live="polite">
      {text}
    </p>
  );
}
