/** Where the port of resellers serves the page with the console of a VM. */
export const CONSOLE_PATH = '/vm-console';

/** Limits of links and sessions, in milliseconds unless stated otherwise. */
export interface ConsoleLimits {
  /** For how long a link can be opened. */
  readonly linkMs: number;
  readonly sessionMs: number;
  /** A session without a key or a movement of the mouse ends after this time. */
  readonly idleMs: number;
  /** How often the open sessions are checked. */
  readonly checkMs: number;
  /** Number of sessions. */
  readonly maxOfVm: number;
  /** Number of sessions. */
  readonly maxOfAccount: number;
}

export const DEFAULT_CONSOLE_LIMITS: ConsoleLimits = {
  linkMs: 60_000,
  sessionMs: 3_600_000,
  idleMs: 900_000,
  checkMs: 5_000,
  maxOfVm: 2,
  maxOfAccount: 20,
};
