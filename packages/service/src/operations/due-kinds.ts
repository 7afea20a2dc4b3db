import { periodEnds } from './accounting/period-end-work.ts';
import { dedicatedServersDue } from './dedicated/due.ts';
import { domainExpiries } from './domain/expiry.ts';
import type { DueWork } from './due-work.ts';

/** Every kind of work that falls due at a time; of what is due at one instant, what stands first goes first. */
export const dueKinds: readonly DueWork[] = [periodEnds, dedicatedServersDue, domainExpiries];
