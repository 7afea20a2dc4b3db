import type { Logger } from 'pino';

import type { Runtime } from '../../delivery/runtime.ts';
import type { SimulatedPort } from '../../ports/ports.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ConsoleSite } from '../operator/console.ts';
import type { SignInCodes } from '../operator/session.ts';
import type { Authenticate } from '../reseller/authenticate.ts';
import type { Controls } from '../reseller/controls.ts';
import type { KeyUse } from '../reseller/key-use.ts';
import type { Docs } from './docs.ts';
import type { FailedAuthentications } from './failed-authentications.ts';
import type { Metrics } from './metrics.ts';
import type { RefusedRequests } from './refused-requests.ts';

/** The dependencies of both HTTP applications. */
export interface HttpContext {
  readonly runtime: Runtime;
  readonly sandbox: Sandbox;
  /** @throws ClockError if the clock of the machine is wrong. */
  assertClockRight(): Promise<void>;
  /** Whether the service is about to stop. */
  isStopping(): boolean;
  /** Authentication of the reseller API. */
  readonly authenticate: Authenticate;
  readonly controls: Controls;
  readonly keyUse: KeyUse;
  readonly failedAuthentications: FailedAuthentications;
  readonly refusedRequests: RefusedRequests;
  /** Bearer token of the operator. Without it, the operator API admits only verifiers. */
  readonly operatorToken: string | undefined;
  /** The sign-in codes of the console. */
  readonly signInCodes: SignInCodes;
  /** Base URL of the operator API, or undefined while it does not listen. */
  operatorUrl(): string | undefined;
  /** The built documentation, served at /docs. */
  readonly docs: Docs | undefined;
  /** The console, served at /console/ of the operator API. */
  readonly console: ConsoleSite | undefined;
  /** Names of hosts that a sandbox takes in addition to its own. */
  readonly allowedHosts: readonly string[];
  /** Where to report vulnerabilities, for security.txt. */
  readonly securityContact: string | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** The ports that only simulate their infrastructure. */
  readonly simulated: readonly SimulatedPort[];
  readonly metrics: Metrics;
  readonly logger: Logger;
}
