/** Buys, fails and pages with the client in every runtime. It is bundled with the built client and must not use Node's modules. */
import { createReseller, InvalidError, NotFoundError, OutcomeUnknownError, ResellerError } from '@reseller/client';

/** The results as JSON, which the test compares. */
export interface Report {
  readonly cores: number;
  readonly attempts: number;
  /** The error classes and their properties, for a response and for an input that was not sent. */
  readonly errors: readonly unknown[];
  /** Endpoints of the whole request log, newest first. */
  readonly log: readonly string[];
  readonly distinct: number;
  /** Class of the error if no server listens. It shows whether the runtime reports that a purchase was not sent. */
  readonly nobody: string;
}

/** The input of each function. */
export interface Address {
  readonly baseUrl: string;
}

/** The input of `run`. */
export interface Task extends Address {
  readonly apiKey: string;
  /** Number of requests before the log is read, so that it has several pages. */
  readonly reads: number;
  /** An address where nothing listens. */
  readonly nowhere: string;
}

const FORM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };

export async function run({ baseUrl, apiKey, reads, nowhere }: Task): Promise<Report> {
  const reseller = createReseller({ apiKey, baseUrl });
  const { data, attempts } = await reseller.vm.create(FORM).withMeta();
  const errors: unknown[] = [];
  for (const call of [() => reseller.vm.reinstall(99_999), () => reseller.vm.create({ ...FORM, cores: Number.NaN })]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    if (error instanceof NotFoundError || error instanceof InvalidError) errors.push([error.name, error.operation, error.attempts]);
    else throw error;
  }
  for (let count = 0; count < reads; count++) await reseller.domain.list();
  const entries = await reseller.account.requests().toArray();
  const log = entries.map(({ endpoint }) => endpoint);
  const nobody = await createReseller({ apiKey, baseUrl: nowhere, maxRetries: 0 })
    .vm.create(FORM)
    .then(String, (error: unknown) => (error instanceof Error ? error.name : String(error)));
  return { cores: data.config.cores, attempts, errors, log, nobody, distinct: new Set(entries.map(({ requestID }) => requestID)).size };
}

/** Buys on a connection that a read has opened. Returns the name of the error. */
export async function buyAfterRead({ baseUrl }: Address): Promise<string> {
  const reseller = createReseller({ apiKey: 'key', baseUrl, maxRetries: 0 });
  await reseller.vm.hosts();
  return reseller.vm.create(FORM).then(String, (error: unknown) => (error instanceof Error ? error.name : String(error)));
}

/** Buys a VM. Returns the name of the error, whether the purchase may have been carried out, and the message. */
export async function buyAt({ baseUrl }: Address): Promise<readonly [name: string, uncertain: boolean, message: string]> {
  const reseller = createReseller({ apiKey: 'key', baseUrl, maxRetries: 0 });
  try {
    await reseller.vm.create(FORM);
    return ['bought', false, ''];
  } catch (error) {
    if (!(error instanceof ResellerError)) throw error;
    return [error.name, error.uncertain, error.message];
  }
}

/** The input of `buyThroughBrokenNetwork`. */
export interface BrokenTask extends Address {
  readonly apiKey: string;
  /** The host names of the VMs to buy, one after the other. */
  readonly hostnames: readonly string[];
}

/** Buys VMs on connections that are kept open. Returns the outcome of each purchase that the client reports. */
export async function buyThroughBrokenNetwork({ baseUrl, apiKey, hostnames }: BrokenTask): Promise<readonly string[]> {
  let skipped = 0;
  // Pauses take no time, neither here nor at the service. The network and the timeouts take real time.
  const clock = {
    now: () => performance.now() + skipped,
    async sleep(milliseconds: number) {
      skipped += Math.ceil(milliseconds);
      await fetch(`${baseUrl}/advance/${Math.ceil(milliseconds)}`);
    },
  };
  const reseller = createReseller({ apiKey, baseUrl, clock });
  const outcomes: string[] = [];
  for (const hostname of hostnames) {
    // Leaves a connection open that the purchase could use.
    await reseller.vm.hosts();
    try {
      await reseller.vm.create({ ...FORM, hostname }, { headers: { 'x-purchase': hostname } });
      outcomes.push('committed');
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknownError;
      outcomes.push(isUnknown ? (await reseller.reconcile(error)).outcome : 'not-committed');
    }
  }
  return outcomes;
}
