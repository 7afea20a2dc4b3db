import { periodEndJobs } from '../accounting/period-end-job.ts';
import { dedicatedServerJobs } from '../dedicated/server-jobs.ts';
import { domainExpiryJobs } from '../domain/expiry-job.ts';
import type { JobKind } from './job.ts';

/** Every kind of scheduled job. Jobs that are due at the same instant are performed in this order. */
export const jobKinds: readonly JobKind[] = [periodEndJobs, dedicatedServerJobs, domainExpiryJobs];
