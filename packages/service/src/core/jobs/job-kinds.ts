import { periodEndJobs } from '../accounting/period-end-job.ts';
import { dedicatedServerJobs } from '../dedicated/server-jobs.ts';
import { domainExpiryJobs } from '../domain/expiry-job.ts';
import type { JobKind } from './run-jobs.ts';

/** Every kind of work that falls due at a time; of what is due at one instant, what stands first goes first. */
export const jobKinds: readonly JobKind[] = [periodEndJobs, dedicatedServerJobs, domainExpiryJobs];
