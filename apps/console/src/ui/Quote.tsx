import type { OperationId } from '@reseller/operator-client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { Facts, Failure, Instant, Money } from './controls.tsx';

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
  if (error !== null) return <Failure error={error} />;
  if (quote === undefined || data === undefined) return null;
  return (
    <section aria-label="Price" aria-live="polite">
      <Facts items={Object.entries(data).flatMap(([name, value]) => pricesOf(quote.titles[name] ?? name, value))} />
    </section>
  );
}

/** A value with and without VAT becomes two facts. Null becomes none. */
function pricesOf(title: string, value: unknown): [string, ReactNode][] {
  if (value === null) return [];
  if (typeof value === 'object') return Object.entries(value).flatMap(([part, one]) => pricesOf(`${title}, ${part}`, one));
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return [[title, <Instant key={title} at={text} day />]];
  return [/^-?\d+\.\d+$/.test(text) ? [`${title} (EUR)`, <Money key={title} amount={text} />] : [title, text]];
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
