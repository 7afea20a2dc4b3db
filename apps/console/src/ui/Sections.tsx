import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import type { Query } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

/** Whether nothing has come yet of a query, which has not failed either. */
const FIRST_LOADS = { predicate: ({ state }: Query): boolean => state.status === 'pending' && state.fetchFailureCount === 0 };

/**
 * The body of a page with several sections, which is shown when each of them has its data or has failed once. Sections that load later would
 * move what is below them away from a click.
 */
export function Sections({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const loading = useIsFetching(FIRST_LOADS);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    // The first count is from before the sections began to load.
    if (client.isFetching(FIRST_LOADS) === 0) setShown(true);
  }, [client, loading]);
  return (
    <div className="page" aria-busy={!isShown} style={isShown ? undefined : { visibility: 'hidden' }}>
      {children}
    </div>
  );
}
