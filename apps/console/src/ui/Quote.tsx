import type { OperationId } from '@reseller/operator-client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment, useEffect, useState } from 'react';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { Instant, Money } from './controls.tsx';
import { Refusal } from './Refusal.tsx';

/** A person who types a number is not asked about after each digit. */
const PAUSE_MS = 300;

interface Props {
  readonly id: OperationId;
  readonly request: Sent | undefined;
}

/** What the operation would cost, as the operation at its path followed by `/quote` says. */
export function Quote({ id, request }: Props) {
  const { quote } = operations[id];
  const reads = isOperation(quote?.id) ? quote.id : undefined;
  const asked = useSettled(JSON.stringify(request));
  const { data, error } = useQuery({
    queryKey: [reads, asked],
    queryFn: ({ signal }) => send<object>(reads ?? id, JSON.parse(asked ?? ''), signal),
    enabled: reads !== undefined && asked !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  if (error !== null) return <Refusal error={error} />;
  if (quote === undefined || data === undefined) return null;
  return (
    <section aria-label="Price" aria-live="polite" className="quote">
      <dl>
        {Object.entries(data).map(
          ([name, value]) => value !== null && <Fact key={name} title={quote.titles[name] ?? name} value={value} />,
        )}
      </dl>
    </section>
  );
}

/** The object has an amount with VAT and one without. */
function Fact({ title, value }: { readonly title: string; readonly value: unknown }) {
  const text = String(value);
  const amounts =
    typeof value === 'object' ? Object.entries<unknown>(Object(value)) : /^-?\d+\.\d+$/.test(text) ? [['', text] as const] : [];
  return (
    <div>
      <dt>{amounts.length === 0 ? title : `${title} (EUR)`}</dt>
      <dd>
        {amounts.map(([part, amount], at) => (
          <Fragment key={part}>
            {at > 0 && ', '}
            <Money amount={String(amount)} /> {part}
          </Fragment>
        ))}
        {amounts.length === 0 && (/^\d{4}-\d\d-\d\dT/.test(text) ? <Instant at={text} day /> : text)}
      </dd>
    </div>
  );
}

/** The text as it was when it last stayed the same for a moment. */
function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
