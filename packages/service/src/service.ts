import { setTimeout as wait } from 'node:timers/promises';

import { oneAtATime } from './delivery/concurrency.ts';
import type { Runtime } from './delivery/runtime.ts';
import { createOperatorApplication } from './http/operator/application.ts';
import { createSignInCodes } from './http/operator/session.ts';
import { createApplication } from './http/reseller/application.ts';
import { createAuthenticator } from './http/reseller/authenticate.ts';
import { createControls } from './http/reseller/controls.ts';
import { createKeyUse } from './http/reseller/key-use.ts';
import type { HttpContext } from './http/shared/context.ts';
import { createFailedAuthentications } from './http/shared/failed-authentications.ts';
import { observeReadiness } from './http/shared/metrics.ts';
import { createRefusedRequests } from './http/shared/refused-requests.ts';
import { listeningUrl } from './http/shared/server.ts';
import { closeBackground, createBackground, jobRunner, settleBackground } from './lifecycle.ts';
import type { Background, RoundOptions, RunRound } from './lifecycle.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Service, ServiceOptions } from './service-options.ts';
import { startRuntime } from './start-runtime.ts';
import type { StartedRuntime } from './start-runtime.ts';
import { inBackground } from './store/background.ts';
import { missingSettings, operationsThatSet } from './store/missing-settings.ts';

/**
 * Creates the service, which begins to settle the deliveries of earlier processes.
 *
 * @throws TypeError if the secret or the operator token is too short, or the public URL is not valid.
 * @throws RangeError if `portTimeout` is too long for a timer.
 * @throws StoreOpenError if the store was first used with another secret or mode.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  return (await createServiceOnRuntime(options)).service;
}

/** Like `createService`, but also returns the runtime, for tests that call functions of the core directly. */
export async function createServiceOnRuntime(options: ServiceOptions): Promise<{ service: Service; runtime: Runtime }> {
  let listeningAt: string | undefined;
  /** A list of a thousand links asks for it a thousand times, and it stays the same once the server listens. */
  function url(): string {
    if (app.server.listening) listeningAt ??= listeningUrl(app);
    return listeningAt ?? listeningUrl(app);
  }
  const started = await startRuntime(options, {
    url,
    addresses: () => app.addresses().flatMap((bound) => (typeof bound === 'string' ? [] : bound.address)),
  });
  const { runtime, clock, metrics } = started;
  let isStopping = false;
  const { context, runRound, background } = createContext(options, started, {
    isStopping: () => isStopping,
    operatorUrl: () => (operator.addresses().length > 0 ? operator.listeningOrigin : undefined),
  });
  observeReadiness(metrics, { instance: runtime.instance, isStopping: context.isStopping });
  background.recovery.begin();
  const app = await createApplication(context);
  const operator = await createOperatorApplication(context);
  flushAtClose({ app, operator }, context);
  async function runCounted(round: RoundOptions): Promise<number> {
    try {
      return await context.sandbox.exclusive(() => runRound(round));
    } catch (error) {
      metrics.scheduledJobFailures.inc();
      throw error;
    }
  }
  const service: Service = {
    app,
    operator,
    createSignInCode: () => context.signInCodes.issue(),
    async clockAdvance() {
      await context.controls.refresh();
      return Math.floor(clock.offset / 1000);
    },
    async missingOperations() {
      const missing = await runtime.store.read((db) => missingSettings(db, runtime.mode));
      return missing.length === 0 ? undefined : operationsThatSet(missing);
    },
    runScheduledJobs: () => runCounted({ others: 'skip', waitsForBackground: true }),
    runRound: () => runCounted({ others: 'skip', waitsForBackground: false }),
    settled: () => settleBackground(background),
    announceServing: () => runtime.instance.announceServing(),
    announceStop() {
      isStopping = true;
    },
    async close() {
      isStopping = true;
      started.close();
      await Promise.all([app.close(), operator.close(), closeBackground(background)]);
    },
  };
  return { service, runtime };
}

/** Creates the dependencies of both applications, and the functions that run scheduled jobs. */
function createContext(
  options: ServiceOptions,
  { runtime, clock, clockCheck, metrics }: StartedRuntime,
  { isStopping, operatorUrl }: Pick<HttpContext, 'isStopping' | 'operatorUrl'>,
): { readonly context: HttpContext; readonly runRound: RunRound; readonly background: Background } {
  const { store, mode } = runtime;
  const { logger } = options;
  const failedAuthentications = createFailedAuthentications(store, clock.base, (error) =>
    logger.error({ err: error }, 'failed authentications were not stored; they are stored with the next ones'),
  );
  const authenticator = createAuthenticator(store, {
    mode,
    clock,
    onFailure: (address) => failedAuthentications.note('reseller', address),
  });
  const controls = createControls(store, clock, mode);
  const keyUse = createKeyUse(store, clock, (error) => logger.error({ err: error }, 'the last use of API keys was not stored'));
  async function now() {
    await controls.refresh();
    await clockCheck.assertRight();
    return clock.now();
  }
  const backgroundRuntime = { ...runtime, store: inBackground(store) };
  const background = createBackground({ runtime: backgroundRuntime, clock, metrics, failedAuthentications, logger });
  const runRound = jobRunner({ runtime: backgroundRuntime, clock, metrics, now, keyUse, background, logger });
  const context: HttpContext = {
    runtime,
    assertClockRight: () => clockCheck.assertRight(),
    isStopping,
    sandbox: createSandbox({ runtime, clock, authenticator, controls, background, runRound }),
    authenticate: authenticator.authenticate,
    controls,
    keyUse,
    failedAuthentications,
    refusedRequests: createRefusedRequests(store, (error) => logger.error({ err: error }, 'request log not written')),
    operatorToken: options.operatorToken,
    signInCodes: createSignInCodes(runtime.ports.random, clock.base),
    operatorUrl,
    docs: options.docs,
    console: options.console,
    allowedHosts: (options.allowedHosts ?? []).map((name) => name.toLowerCase()),
    securityContact: options.securityContact,
    trustedProxies: options.trustedProxies ?? [],
    simulated: options.simulated ?? [],
    metrics,
    logger,
  };
  return { context, runRound, background };
}

/** The time that another instance may need to read the settings again. */
const CONTROLS_MARGIN_MS = 250;

interface SandboxParts extends Pick<StartedRuntime, 'runtime' | 'clock'>, Pick<HttpContext, 'controls'> {
  readonly authenticator: ReturnType<typeof createAuthenticator>;
  readonly background: Background;
  readonly runRound: RunRound;
}

function createSandbox({ runtime: { instance, store }, clock, authenticator, controls, background, runRound }: SandboxParts): Sandbox {
  return {
    clock,
    exclusive: oneAtATime(),
    runAllJobs: () => runRound({ others: 'wait', waitsForBackground: false }),
    settled: () => settleBackground(background),
    async recoverDeliveries() {
      background.recovery.begin();
      await background.recovery.settled();
    },
    refresh() {
      controls.forget();
      return controls.refresh();
    },
    async propagate() {
      controls.forget();
      authenticator.forget();
      if (await instance.hasOthers()) await wait(store.tuning.controlsCacheMs + CONTROLS_MARGIN_MS);
    },
  };
}

/** What is still in memory becomes durable, and the lease ends, when the applications close. */
function flushAtClose(
  { app, operator }: Pick<Service, 'app' | 'operator'>,
  { runtime: { instance }, refusedRequests, keyUse, failedAuthentications, logger }: HttpContext,
): void {
  app.addHook('onClose', () => refusedRequests.flush());
  app.addHook('onClose', () => keyUse.close());
  operator.addHook('onClose', () => failedAuthentications.close());
  app.addHook('onClose', () =>
    instance
      .leave()
      .catch((error: unknown) =>
        logger.error({ err: error }, 'this instance could not release its lease, so the lease stays until it expires'),
      ),
  );
}
