import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import { apiKeyHeader } from './http/api.ts';
import { createApplication } from './http/application.ts';
import { authentication } from './http/authenticate.ts';
import { controlsOf, HOLDS } from './http/controls.ts';
import type { Docs } from './http/docs.ts';
import { publicUrlFrom } from './http/invoice-document.ts';
import { createMetrics } from './http/observability.ts';
import { createOperatorApplication } from './http/operator-application.ts';
import { documentationAt } from './http/root.ts';
import { tellFleet } from './operations/dedicated/fleet-tasks.ts';
import { dueKinds } from './operations/due-kinds.ts';
import { runDueWork } from './operations/due-work.ts';
import type { DueWorkParts } from './operations/due-work.ts';
import { forgetOldKeys } from './operations/idempotency.ts';
import { joinNodes, USUAL_LEASE } from './operations/node.ts';
import { undoLeftReservations } from './operations/reservation.ts';
import type { Undoing } from './operations/reservation.ts';
import { operations } from './operations/table.ts';
import { FIVE_DIGITS } from './operations/vm/identifier.ts';
import type { VmIdentifiers } from './operations/vm/identifier.ts';
import { oneAtATime } from './operator/sandbox/sandbox.ts';
import type { Sandbox } from './operator/sandbox/sandbox.ts';
import { offsetClock } from './ports/offset-clock.ts';
import type { Ports } from './ports/ports.ts';
import { limited, USUAL_PORT_TIMEOUT } from './ports/time-limit.ts';
import type { Mode } from './rules/credentials.ts';
import { publicUrlOf } from './rules/document-link.ts';
import { assertIdentity } from './store/identity.ts';
import { domainActs, domainChangesLeft } from './provider/domain.ts';
import type { DomainActs } from './provider/domain.ts';
import { vmActs, vmChangesLeft } from './provider/vm.ts';
import type { VmActs } from './provider/vm.ts';
import { readSettings } from './store/settings.ts';
import type { Db, Store } from './store/store.ts';

/** What a service is made of. */
export interface ServiceParts {
  readonly store: Store;
  readonly ports: Ports;
  /** Whether `ports` only simulate the infrastructure, which `/readyz` says then. False unless given. */
  readonly isSimulated?: boolean;
  /** Known to the service alone and not in the store: one-time codes are hashed with it. At least 32 characters. */
  readonly secret: string;
  /**
   * URL at which callers reach the service, such as https://api.example.com: links in answers begin
   * with it. Left out, they begin with the address that the service listens on; what a request
   * calls the service (its Host header) is never believed.
   */
  readonly publicUrl?: string;
  /** What the service is; a sandbox where nothing is said. A sandbox's clock can be advanced beyond that of `ports`. */
  readonly mode?: Mode;
  /** Bearer token of the operator API, at least 32 characters; where none is given, nobody is let in but third parties. */
  readonly operatorToken?: string;
  /**
   * Whether the reseller API understands what existing clients of such APIs send beside the rules
   * of the document (JSON bodies, closing slashes, bearer tokens, other words for booleans), naming
   * in each answer what the request deviated in. False unless given: it is refused then.
   */
  readonly lenient?: boolean;
  /** The built documentation, served at /docs. */
  readonly docs?: Docs;
  /**
   * Milliseconds after which this service counts as dead where it is heard of no more, and others
   * on the same database undo what it left half-done; 15 seconds where nothing is said.
   */
  readonly lease?: number;
  /**
   * Milliseconds that a call of the hypervisor, the fleet or the registrar may take, 30 seconds where
   * nothing is said; one that takes longer counts as failed. Those who wait for it wait twice that at
   * the most: what it may have done is taken back, or finished, by another call.
   */
  readonly portTimeout?: number;
  /** What new VMs are given identifiers from: all five-digit numbers where nothing is said. Fewer of them let a test run out. */
  readonly vmIdentifiers?: VmIdentifiers;
  /** Where the service logs to, in the manner of pino. */
  readonly logger: FastifyBaseLogger;
}

/** A service over a store. */
export interface Service {
  /** The reseller API, ready to listen or to be injected into. */
  readonly app: FastifyInstance;
  /** What the provider does with VMs; the operator API does it by these. */
  readonly vms: VmActs;
  /** What the provider does with domains, likewise. */
  readonly domains: DomainActs;
  /** What is for the provider alone: the operator API, probes and metrics. Listens, if at all, where resellers cannot reach it. */
  readonly operator: FastifyInstance;
  /** How many seconds the clock of a sandbox is ahead of the one in `ports`. */
  clockAdvance(): Promise<number>;
  /**
   * Does all that has fallen due by the clock (period ends, set-ups, renewals, ends) and tells the
   * infrastructure what follows from it.
   *
   * @returns How many things were done.
   */
  runDueWork(): Promise<number>;
  /** Finishes what is under way. The store stays open. */
  close(): Promise<void>;
}

/**
 * The Reseller Infrastructure Service over a store. What an earlier process left half-done is undone first.
 *
 * @throws TypeError when the secret or the operator token is too short or the public URL is none.
 * @throws RangeError for a `portTimeout` that no timer can keep.
 * @throws StoreOpenError when the store was first used with another secret or mode.
 */
export async function createService(parts: ServiceParts): Promise<Service> {
  const { store, secret, logger, mode = 'sandbox', operatorToken, lenient = false, isSimulated = false } = parts;
  if (secret.length < 32) throw new TypeError('The secret of the service must have at least 32 characters.');
  if (operatorToken !== undefined && operatorToken.length < 32) throw new TypeError('The operator token must have at least 32 characters.');
  const publicUrl = parts.publicUrl === undefined ? undefined : publicUrlOf(parts.publicUrl);
  await assertIdentity(store, { secret, mode });
  const clock = offsetClock(parts.ports.clock, mode === 'sandbox' ? await store.read(clockOffsetOf) : 0);
  const ports = limited({ ...parts.ports, clock }, parts.portTimeout ?? USUAL_PORT_TIMEOUT);
  const closing = new AbortController();
  const node = await joinNodes({
    store,
    id: uuidv7({ random: ports.random.bytes(16) }),
    lease: parts.lease ?? USUAL_LEASE,
    onFailure: (error) => logger.error({ err: error }, 'the lease of this node could not be renewed; it is tried again'),
  });
  const undoing = { store, ports, table: { ...operations, ...vmChangesLeft, ...domainChangesLeft }, node, closing: closing.signal };
  const undoLeft = undoingAndTelling(undoing, logger);
  await undoLeft();
  const vms = vmActs({ ...undoing, secret });
  const domains = domainActs({ ...undoing, secret });
  const metrics = createMetrics();
  const { authenticate, forget } = authentication(store, { header: apiKeyHeader, mode, clock });
  const controls = controlsOf(store, clock, mode);
  const exclusive = oneAtATime();
  const now = async () => {
    await controls.refresh();
    return clock.now();
  };
  const upkeep = upkeepOf(store);
  const doDueWork = async (others: DueWorkParts['others']) => {
    await node.assertAlive();
    await undoLeft();
    const done = await runDueWork({ store, ports, secret, now, others }, dueKinds);
    await upkeep(clock.now());
    return done + (await tellFleet(undoing));
  };
  const sandbox: Sandbox = {
    clock,
    exclusive,
    doDueWork: () => doDueWork('waited for'),
    undoReservations: undoLeft,
    refresh() {
      controls.forget();
      return controls.refresh();
    },
    async spread() {
      controls.forget();
      forget();
      if (await node.hasOthers()) await wait(HOLDS + MARGIN);
    },
  };
  const app = await createApplication({
    ...undoing,
    secret,
    vmIdentifiers: parts.vmIdentifiers ?? FIVE_DIGITS,
    publicUrl,
    docs: parts.docs,
    mode,
    operatorUrl: () => (operator.addresses().length > 0 ? operator.listeningOrigin : undefined),
    lenient,
    authenticate,
    controls,
    metrics,
    isSimulated,
    logger,
  });
  app.addHook('onClose', () =>
    node.leave().catch((error: unknown) => logger.error({ err: error }, 'this node could not sign off; its lease runs out')),
  );
  const operator = createOperatorApplication({
    store,
    ports,
    secret,
    mode,
    vms,
    domains,
    sandbox,
    operatorToken,
    metrics,
    isSimulated,
    documentation: parts.docs === undefined ? undefined : () => documentationAt(`${publicUrlFrom({ publicUrl }, app)}/docs/`, 'operator'),
    logger,
  });
  return {
    app,
    operator,
    vms,
    domains,
    async clockAdvance() {
      await now();
      return Math.floor(clock.offset / 1000);
    },
    runDueWork: () => exclusive(() => doDueWork('left out')),
    async close() {
      closing.abort();
      await Promise.all([app.close(), operator.close()]);
    },
  };
}

/** Milliseconds that it takes another node to read what it has let go of. */
const MARGIN = 250;
/** Milliseconds after which what is of no use any more is looked for again. */
const UPKEEP_EVERY = 60_000;

/** Forgets old Idempotency-Keys and windows of counters, now and then. */
function upkeepOf(store: Store): (now: number) => Promise<void> {
  let last = -Infinity;
  return async (now) => {
    if (performance.now() - last < UPKEEP_EVERY) return;
    await forgetOldKeys(store, now);
    await store.sharing.windows.forget();
    last = performance.now();
  };
}

/** Undoes what is left over. What cannot be undone is left for the next time, and told of once. */
function undoingAndTelling(undoing: Undoing, logger: FastifyBaseLogger): () => Promise<void> {
  const told = new Set<string>();
  return async () => {
    const { undone, failures } = await undoLeftReservations(undoing);
    if (undone > 0) logger.warn({ undone }, 'undid purchases that were left half-done');
    for (const { reservation, error } of failures) {
      if (told.has(reservation)) continue;
      logger.error({ err: error, reservation }, 'a purchase that was left half-done cannot be undone; it is tried again');
    }
    told.clear();
    for (const { reservation } of failures) told.add(reservation);
  };
}

async function clockOffsetOf(db: Db): Promise<number> {
  return (await readSettings(db)).clockOffset;
}
