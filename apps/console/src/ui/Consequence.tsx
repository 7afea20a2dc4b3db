import type { OperationId } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { send } from '../api/client.ts';
import { useMayUse } from '../app/session.ts';
import { sentenceOf } from '../document/consequence.ts';
import { operations } from '../document/operations.data.ts';

interface Props {
  readonly id: OperationId;
  readonly path: Readonly<Record<string, string>>;
}

/** What an operation means for the resource of the form, in amounts. */
export function Consequence({ id, path }: Props) {
  const { consequence, path: template } = operations[id];
  const reads = consequence?.reads ?? id;
  const [, name = ''] = /\{(\w+)\}/.exec(template) ?? [];
  const resource = { [name]: path[name] };
  // A list takes it in its query.
  const sent = operations[reads].path.includes(`{${name}}`) ? { path: resource } : { query: { ...consequence?.query, ...resource } };
  const mayRead = useMayUse(reads);
  const { data } = useQuery({
    queryKey: [reads, 'consequence', sent],
    queryFn: ({ signal }) => send(reads, sent, signal),
    enabled: consequence !== undefined && path[name] !== undefined && mayRead,
  });
  const text = consequence && data !== undefined ? sentenceOf(consequence, data) : undefined;
  return text === undefined ? null : (
    <p className="strong" aria-live="polite">
      {text}
    </p>
  );
}
