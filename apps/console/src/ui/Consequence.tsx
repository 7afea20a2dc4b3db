import type { OperationId } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { useMayUse } from '../app/session.ts';
import { evaluateConsequence, sentenceOf } from '../document/consequence.ts';
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
  const { data } = useQuery({
    queryKey: [reads, 'consequence', path, query],
    queryFn: ({ signal }) => send(reads, { path, query }, signal),
    enabled: consequence !== undefined && mayRead,
  });
  const text = consequence && data !== undefined ? sentenceOf(consequence, data) : undefined;
  return text === undefined ? null : (
    <p className="strong" aria-live="polite">
      {text}
    </p>
  );
}
