import type { ResizeQuote as Quote } from '@reseller/operator-client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { Facts, Failure, Money } from './controls.tsx';

/** A person who types a number is not asked about after each digit. */
const PAUSE_MS = 300;

/** The price that a VM would have after a resize. */
export function ResizeQuote({ request }: { readonly request: Sent | undefined }) {
  const asked = useSettled(JSON.stringify(request));
  const { data, error } = useQuery({
    queryKey: ['quoteResizeVm', asked],
    queryFn: ({ signal }) => send<Quote>('quoteResizeVm', JSON.parse(asked ?? ''), signal),
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return null;
  return (
    <section aria-label="Price after the resize" aria-live="polite">
      <Facts
        items={[
          ['Net for 30 days (EUR)', <Money key="net" amount={data.price.net} strong />],
          ['Gross for 30 days (EUR)', <Money key="gross" amount={data.price.gross} />],
          [`Net until ${data.period_end.slice(0, 10)} (EUR)`, <Money key="until" amount={data.until_period_end.net} />],
          ['Credit that it needs, net (EUR)', <Money key="credit" amount={data.needed_credit} />],
          ...(data.ended_sale === null ? [] : [['Loses the prices of the sale', data.ended_sale] as const]),
        ]}
      />
    </section>
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
