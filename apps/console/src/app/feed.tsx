/** One feed for the whole page. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';

import { createFeed } from '../api/feed.ts';
import type { Feed, FeedState } from '../api/feed.ts';
import { refresh } from '../api/refresh.ts';

const FeedContext = createContext<Feed | null>(null);
const NOTHING: FeedState = { requests: [], connection: 'connecting' };

export function FeedProvider({ children }: { readonly children: ReactNode }) {
  const queryClient = useQueryClient();
  const [feed, setFeed] = useState<Feed | null>(null);
  useEffect(() => {
    const created = createFeed({ onChange: (news) => refresh(queryClient, news), onRecovery: () => refresh(queryClient) });
    setFeed(created);
    return () => created.stop();
  }, [queryClient]);
  return <FeedContext value={feed}>{children}</FeedContext>;
}

export function useFeed(): FeedState {
  const feed = useContext(FeedContext);
  return useSyncExternalStore(
    (listener) => feed?.subscribe(listener) ?? (() => {}),
    () => feed?.state() ?? NOTHING,
  );
}

/** The feed itself, to clear it or to ask at once. */
export function useFeedControl(): Feed | null {
  return useContext(FeedContext);
}
