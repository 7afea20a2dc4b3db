import { periodEnds } from '../accounting/period-end-job.ts';
import { dedicatedServersDue } from '../dedicated/server-jobs.ts';
import { domainExpiries } from '../domain/expiry-job.ts';
import type { DueWork } from './run-jobs.ts';

/** Every kind of work that falls due at a time; of what is due at one instant, what stands first goes first. */
export const dueKinds: readonly DueWork[] = [periodEnds, dedicatedServersDue, domainExpiries];
