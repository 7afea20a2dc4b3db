/** Checks of settings, in a module of their own, so that a process finds a mistake before it loads the service. */
export { DELAYED } from './sandbox/delays.ts';
export type { Delays } from './sandbox/delays.ts';
export { publicUrlOf } from './rules/public-url.ts';
export { readDatabaseUrl } from './store/postgres/hosts.ts';
export type { DatabaseAddress } from './store/postgres/hosts.ts';
