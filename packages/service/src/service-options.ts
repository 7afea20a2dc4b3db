import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import type { VmIdentifiers } from './core/vm/identifier.ts';
import type { ClockLimits } from './delivery/clock-check.ts';
import type { OwnQueues } from './delivery/runtime.ts';
import type { ConsoleSite } from './http/operator/console.ts';
import type { Docs } from './http/shared/docs.ts';
import type { Ports, SimulatedPort } from './ports/ports.ts';
import type { Mode } from './rules/mode.ts';
import type { ConsoleLimits } from './rules/vm-console.ts';
import type { Delays } from './sandbox/delays.ts';
import type { Store } from './store/store.ts';

export interface ServiceOptions {
  readonly store: Store;
  readonly ports: Ports;
  /** The ports that only simulate their infrastructure. `/readyz` shows them. Default: none. */
  readonly simulated?: readonly SimulatedPort[];
  /** At least 32 characters, and not in the store. One-time codes are hashed with it. */
  readonly secret: string;
  /** A second secret that is accepted while `secret` is rotated. New values use `secret`. */
  readonly previousSecret?: string | undefined;
  /**
   * Base URL of links in responses, such as https://api.example.com. Default: the address that the service listens on. The Host header
   * of a request is never used, because a client can send any value.
   */
  readonly publicUrl?: string;
  /** The minimum number of days for which a link to an invoice document is valid. Default: 30. */
  readonly invoiceLinkDays?: number;
  /** Limits of links to the consoles of VMs, and of their sessions. Default: `DEFAULT_CONSOLE_LIMITS`. */
  readonly consoleLimits?: Partial<ConsoleLimits>;
  /** Default: sandbox. The clock of a sandbox can be advanced beyond the one in `ports`. */
  readonly mode?: Mode;
  /** Bearer token of the operator API, at least 32 characters. Without it, the operator API admits only verifiers. */
  readonly operatorToken?: string;
  /**
   * Whether the reseller API has the extension: operations that the specification names but does not show. Default: only in a sandbox. The
   * operator of a live service decides whether resellers may stop, change and delete what they bought.
   */
  readonly extension?: boolean;
  /**
   * IP addresses and CIDR networks of proxies. The client address of their requests, for limits, logs and the audit, is the one in
   * X-Forwarded-For. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /**
   * Names of hosts that a sandbox takes in the Host header, in addition to localhost, IP addresses and the names of its URLs. It refuses
   * others, so that no page in a browser can read its responses under a name of its own. Default: none.
   */
  readonly allowedHosts?: readonly string[];
  /** Where to report vulnerabilities, a URL such as mailto:security@example.com. Both ports serve it as /.well-known/security.txt. */
  readonly securityContact?: string | undefined;
  /** The built documentation, served at /docs. */
  readonly docs?: Docs;
  /** The built console, served at /console/ of the operator API. */
  readonly console?: ConsoleSite;
  /**
   * Milliseconds. An instance that has not renewed its lease for this time counts as dead, and other instances recover its deliveries.
   * Default: 15 seconds.
   */
  readonly lease?: number;
  /**
   * Milliseconds after which a call of the hypervisor, the fleet or the registrar counts as failed. Its caller waits at most twice as long,
   * because another call then undoes or finishes the change. Default: 30 seconds.
   */
  readonly portTimeout?: number;
  /**
   * How long the simulated infrastructure of a sandbox takes. The service then responds before the change is done, so that clients can test
   * their polling. Default: no time.
   */
  readonly delays?: Delays | undefined;
  /**
   * How far the clock may be off before the service stops billing and responds 503. Default for the clock of the machine: 5 seconds from the
   * clock of a shared database, and an hour after the newest time in the embedded store of a live service, unless NTP keeps the clock right.
   * Other clocks have no limit.
   */
  readonly clockLimits?: Partial<ClockLimits>;
  /** The identifiers that new VMs may get. Default: all five-digit numbers. */
  readonly vmIdentifiers?: VmIdentifiers;
  /**
   * Called when a newer version has upgraded the shared database and one lease has passed. The process should then stop, and be started
   * again with that version.
   */
  readonly onOutdated?: () => void;
  /** The number of lines that the logger has lost so far, for the metrics. */
  readonly lostLogLines?: () => number;
  /** Queues of the process that are not in the store. Default: none. */
  readonly ownQueues?: OwnQueues;
  readonly logger: Logger;
}

export interface Service {
  /** The reseller API. It does not listen yet. */
  readonly app: FastifyInstance;
  /** The operator API, probes and metrics. It does not listen yet. Resellers must not be able to reach it. */
  readonly operator: FastifyInstance;
  /** A new one-time code with which a browser signs in to the console as the holder of the first operator token. */
  createSignInCode(): string;
  /** How many seconds the clock of a sandbox is ahead of the one in `ports`. */
  clockAdvance(): Promise<number>;
  /** The operations to call before a live service issues keys that can buy. Undefined if there is none. */
  missingOperations(): Promise<string | undefined>;
  /**
   * Performs all due jobs (period ends, set-ups, renewals, ends), delivers the changes that they enqueue, and waits for the work that runs next
   * to a round.
   *
   * @returns The number of jobs performed.
   */
  runScheduledJobs(): Promise<number>;
  /** Like `runScheduledJobs`, but only begins what waits for other systems. A server calls it once a second. */
  runRound(): Promise<number>;
  /** Resolves when nothing runs next to the rounds, such as the recovery that the start has begun. */
  settled(): Promise<void>;
  /** Announces to the other instances on the database that this one serves requests. Those of an older version then stop. */
  announceServing(): Promise<void>;
  /** After this call, readiness responds 503 and every response closes its connection, so that load balancers send no more requests. */
  announceStop(): void;
  /** Completes the current requests. The store stays open. */
  close(): Promise<void>;
}
