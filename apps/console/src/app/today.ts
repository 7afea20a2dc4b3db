/** The present day of the provider, in whose time zone documents have their days. */
import { useQuery } from '@tanstack/react-query';

import { queryOf } from '../api/queries.ts';
import { dayIn } from '../ui/form.ts';
import { mayUse, useSession } from './session.ts';

/**
 * @param isNeeded Whether the day is read.
 * @returns Undefined while it is read. An empty text if the session may not read the settings.
 */
export function useToday(isNeeded: boolean): string | undefined {
  const session = useSession();
  const [hasSettings, hasClock] = [isNeeded && mayUse(session, 'getSettings'), isNeeded && mayUse(session, 'getClock')];
  const settings = useQuery({ ...queryOf('getSettings', {}), enabled: hasSettings, refetchOnMount: 'always' });
  const clock = useQuery({ ...queryOf('getClock', {}), enabled: hasClock, refetchOnMount: 'always' });
  const isRead = [hasSettings ? [settings] : [], hasClock ? [clock] : []].flat().every((query) => query.isFetchedAfterMount);
  if (!isRead) return undefined;
  if (settings.data === undefined) return '';
  return dayIn(settings.data.time_zone, clock.data === undefined ? new Date() : new Date(clock.data.now));
}
