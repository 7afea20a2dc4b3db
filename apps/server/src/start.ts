/** Starts the service in this process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { errorText, isError } from '@reseller/contract/is-error';
import { contentSecurityPolicy, siteDirectory } from '@reseller/docs';
import {
  ClockError,
  createService,
  damageOr,
  DEMO_ACCOUNT,
  issueSharedDemoKey,
  seedDemoAccount,
  seedSandbox,
  serviceIdOf,
  startNameServer,
  storeBackupFigures,
  storeFence,
  systemRandom,
  StoreOpenError,
  StoreUnavailableError,
} from '@reseller/service';
import type { NameServer, Ports, Service, ServiceOptions, SimulatedPort, Store } from '@reseller/service';
import { readDatabaseUrl } from '@reseller/service/configuration';
import { pino } from 'pino';
import type { Logger } from 'pino';

import { AdapterError } from './adapter-error.ts';
import { configuredPorts } from './adapters.ts';
import { AuditFileError, exportAudit } from './audit-file.ts';
import type { AuditFile } from './audit-file.ts';
import type { Configuration } from './configuration.ts';
import { consoleBuilder } from './console-build.ts';
import { consoleDirectory, consolePolicy } from './console-site.ts';
import { demoApiKey, operatorTokenFrom, secretFrom, writeAddresses } from './key-files.ts';
import { openLog, withoutRepeatedStacks } from './log.ts';
import { openStore, openStoreWhenReachable } from './open-store.ts';
import { repeat } from './scheduled-jobs.ts';
import { simulationNotice, welcome } from './welcome.ts';

/**
 * The exit code after a newer version has taken over. A supervisor that restarts failed services starts the version that is
 * installed by then.
 */
const EXIT_CODE_REPLACED = 75;
const NO_DOCS = 'The documentation is not built. Stop the service, run npx -y pnpm@12 build, and start it again.\n';

/** Starts the service, and ends the process on a signal. */
export async function start(configuration: Configuration): Promise<void> {
  const { dataDirectory, databaseUrl } = configuration;
  const store = await openStoreWhenReachable(() => openStore(configuration, { onFailedSync: endAtOnce }));
  try {
    await startOn(store, configuration);
  } catch (error) {
    await store.close();
    throw databaseUrl === undefined ? damageOr(error, dataDirectory) : error;
  }
}

/** The options of the service that the configuration names. */
function configuredOptions({ publicUrl, mode, ...configuration }: Configuration) {
  return {
    mode,
    previousSecret: configuration.previousSecret,
    extension: configuration.extension,
    trustedProxies: configuration.trustedProxies,
    allowedHosts: configuration.allowedHosts,
    securityContact: configuration.securityContact,
    invoiceLinkDays: configuration.invoiceLinkDays,
    lease: configuration.lease,
    portTimeout: configuration.portTimeout,
    delays: configuration.delays,
    clockLimits: configuration.clockLimits,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    console: {
      directory: consoleDirectory,
      contentSecurityPolicy: consolePolicy,
      pageWhileMissing: consoleBuilder(mode, consoleDirectory),
    },
  };
}

/** Creates the service that the configuration describes. */
async function serviceOn(
  store: Store,
  configuration: Configuration,
  observed: Pick<ServiceOptions, 'logger' | 'lostLogLines' | 'onOutdated' | 'ownQueues'>,
) {
  const { dataDirectory, mode, previousSecret } = configuration;
  const secret = configuration.secret ?? (await secretFrom(dataDirectory, store));
  const { ports, simulated, vms } = await configuredPorts(configuration, async () => ({
    mode,
    serviceId: await serviceIdOf(store, { secret, previousSecret, mode }, systemRandom),
    fence: storeFence(store),
    directory: join(dataDirectory, 'adapters'),
  }));
  const hasDocs = existsSync(join(siteDirectory, 'index.html'));
  const operatorToken = configuration.operatorToken ?? operatorTokenFrom(dataDirectory);
  const service = await createService({
    ...configuredOptions(configuration),
    ...observed,
    store,
    ports,
    simulated,
    secret,
    operatorToken,
    ...(hasDocs ? { docs: { directory: siteDirectory, contentSecurityPolicy } } : {}),
  });
  if (!hasDocs) service.app.get('/docs/*', (_request, reply) => reply.code(404).type('text/plain; charset=utf-8').send(NO_DOCS));
  return { service, ports, simulated, vms, secret, operatorToken, hasDocs };
}

async function startOn(store: Store, configuration: Configuration): Promise<void> {
  const { dataDirectory, databaseUrl, mode } = configuration;
  const log = openLog((lost) => logger.warn({ lost }, 'lines of the log were lost, because standard error was not read in time'));
  const logger = pino({ level: configuration.logLevel, serializers: { err: withoutRepeatedStacks() } }, log);
  const audit = configuration.auditFile === undefined ? undefined : await exportAudit(store, configuration.auditFile, logger);
  const replaced = Promise.withResolvers<void>();
  const ownQueues = ownQueuesOf(store, configuration, audit);
  const observed = { logger, ownQueues, lostLogLines: log.lost, onOutdated: () => replaced.resolve() };
  const { service, ports, simulated, vms, secret, operatorToken, hasDocs } = await serviceOn(store, configuration, observed);
  const missing = await missingOperationsOf(service, logger);
  const demo = mode === 'sandbox' ? await sandboxDemo(store, { ports, secret }, configuration) : undefined;
  // Jobs that became due while no process ran are finished before the first request.
  const jobs = repeat(() => service.runRound(), logger);
  await jobs.firstRun;
  const clockAdvance = await service.clockAdvance();
  let nameServer: NameServer | undefined;
  async function stop(): Promise<void> {
    // Stop both concurrently. A closing service makes no new port calls, so running jobs end soon.
    await Promise.all([jobs.stop(), service.close()]);
    await nameServer?.close();
    await audit?.stop();
    await store.close();
  }
  const data = databaseUrl === undefined ? dataDirectory : shownDatabase(databaseUrl);
  let [address, operator] = ['', ''];
  try {
    address = await listen(service.app, configuration, 'RESELLER');
    if (mode === 'sandbox' && simulated.includes('dns')) nameServer = await nameServerOf({ store, ports }, configuration, logger);
    operator = await listen(service.operator, { host: configuration.operatorHost, port: configuration.operatorPort }, 'RESELLER_OPERATOR');
  } catch (error) {
    await stop();
    throw error;
  }
  const removeAddresses =
    mode === 'sandbox' && databaseUrl === undefined ? writeAddresses(dataDirectory, { baseUrl: address, operatorUrl: operator }) : () => {};
  async function end(drain: number, exitCode = 0): Promise<void> {
    service.announceStop();
    removeAddresses();
    await wait(drain);
    const isClean = await endsCleanly(stop, logger);
    await log.flush();
    // Without this, log lines that no process reads would keep the service running.
    process.exit(isClean ? exitCode : 1);
  }
  endOnSignals(end, { drain: configuration.drain, data });
  void replaced.promise.then(() => end(configuration.drain, EXIT_CODE_REPLACED));
  // In the turn in which the operator's port opens: a script that finds the service ready reads the key from this text.
  process.stdout.write(
    welcome({
      mode,
      extension: configuration.extension,
      baseUrl: address,
      operatorUrl: operator,
      apiKey: demo,
      operatorToken: configuration.operatorToken === undefined ? operatorToken : undefined,
      signInCode: mode === 'sandbox' && configuration.operatorToken === undefined ? service.createSignInCode() : undefined,
      notice: noticeOf(simulated, mode, logger),
      vms,
      missing,
      clockAdvance,
      hasDocs,
      data,
      dnsPort: nameServer?.port,
    }),
  );
  await announce(service, logger);
}

/** @returns Whether there was no error. The log has it otherwise. */
async function endsCleanly(stop: () => Promise<void>, logger: Logger): Promise<boolean> {
  try {
    await stop();
    return true;
  } catch (error) {
    logger.error({ err: error }, 'the service could not stop cleanly');
    return false;
  }
}

/** The notice about infrastructure that is simulated, which the log of a live service has as well. */
function noticeOf(simulated: readonly SimulatedPort[], mode: Configuration['mode'], logger: Logger): string | undefined {
  const notice = simulationNotice(simulated);
  if (mode === 'live' && notice !== undefined) logger.warn(notice);
  return notice;
}

/** The queues that are not in the store. Nobody backs up a sandbox. */
function ownQueuesOf(store: Store, { mode, databaseUrl, dataDirectory }: Configuration, audit: AuditFile | undefined) {
  return {
    ...(audit && { audit_export: audit.figures }),
    ...(mode === 'live' && { store_backups: () => storeBackupFigures(store, databaseUrl === undefined ? dataDirectory : undefined) }),
  };
}

async function missingOperationsOf(service: Service, logger: Logger): Promise<string | undefined> {
  const missing = await service.missingOperations();
  if (missing !== undefined) logger.warn(`the service issues no key that can buy; call ${missing}`);
  return missing;
}

/** Tells older instances on the database that this one serves. A later renewal of the lease does it otherwise. */
async function announce(service: Service, logger: Logger): Promise<void> {
  try {
    await service.announceServing();
  } catch (error) {
    logger.warn({ err: error }, 'older instances do not know yet that this one serves');
  }
}

/** Ends the process when it receives a signal. @param data Where the data stays. */
function endOnSignals(end: (drain: number) => Promise<void>, { drain, data }: { readonly drain: number; readonly data: string }): void {
  // The process that reads it may have ended.
  process.stdout.on('error', () => {});
  process.once('SIGTERM', () => void end(drain));
  // SIGINT comes from a terminal, where no load balancer has to notice the stop.
  process.once('SIGINT', () => {
    process.stdout.write(`\nStopping. The data stays in ${data}.\n`);
    void end(0);
  });
}

/** Ends the process, because the contents of the disk are unknown. A supervisor starts it again, and the next start reads the disk. */
function endAtOnce({ message, cause }: StoreUnavailableError): never {
  process.stderr.write(`${message} The process ends. (${errorText(cause)})\n`);
  process.exit(1);
}

/** Another program may use the port. A sandbox without a name server is still of use. */
async function nameServerOf(
  parts: { readonly store: Store; readonly ports: Ports },
  { host, dnsPort }: Configuration,
  logger: Logger,
): Promise<NameServer | undefined> {
  try {
    return await startNameServer(parts, { host, port: dnsPort });
  } catch (error) {
    logger.warn(`the sandbox answers no DNS queries: ${errorText(error)}. Set RESELLER_DNS_PORT to a free port`);
    return undefined;
  }
}

/** Fills a sandbox at its first start and returns the key of its demo account. */
async function sandboxDemo(
  store: Store,
  parts: { ports: Ports; secret: string },
  { databaseUrl, dataDirectory }: Configuration,
): Promise<string> {
  await seedSandbox(store, parts.ports);
  await seedDemoAccount(store, parts);
  if (databaseUrl !== undefined) return issueSharedDemoKey(store, parts.ports, { secret: parts.secret, accountId: DEMO_ACCOUNT });
  return demoApiKey(store, parts.ports, dataDirectory);
}

/** Describes the database without user and password. */
function shownDatabase(url: string): string {
  const { database, hosts } = readDatabaseUrl(url) ?? { database: '', hosts: [] };
  return `PostgreSQL database ${database} at ${hosts.join(', ')}`;
}

/** An address on which the service cannot listen. The message is one line. */
class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** @param prefix The first part of the names of the variables with host and port. */
async function listen(app: Service['app'], { host, port }: { host: string; port: number }, prefix: string): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const line = isError(error) && 'code' in error ? listenProblem(error.code, { host, port, prefix }) : undefined;
    throw line === undefined ? error : new ListenError(line, { cause: error });
  }
}

function listenProblem(code: unknown, { host, port, prefix }: { host: string; port: number; prefix: string }): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use by another process. Stop that process, or set ${prefix}_PORT to another port.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Set ${prefix}_PORT to 1024 or above.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${prefix}_HOST is '${host}', which is not an address of this machine. Set it to one, such as 127.0.0.1.`;
    default:
      return undefined;
  }
}

/** A one-line explanation; undefined if the user cannot fix the error. */
export function explanation(error: unknown): string | undefined {
  if (
    error instanceof StoreOpenError ||
    error instanceof StoreUnavailableError ||
    error instanceof ClockError ||
    error instanceof AdapterError ||
    error instanceof AuditFileError ||
    error instanceof ListenError
  )
    return error.message;
  if (isError(error) && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM'))
    return `Access was refused (${error.message}). Let this user read and write the data directory, or set RESELLER_DATA_DIR to another one.`;
  return undefined;
}
