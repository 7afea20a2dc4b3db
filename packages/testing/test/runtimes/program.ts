/** Buys, fails and pages with the client in every runtime. It is bundled with the built client and must not use Node's modules. */
import { createReseller, InvalidError, NotFoundError } from '@reseller/client';

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

/** The input of a run. */
export interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Number of requests before the log is read, so that it has several pages. */
  readonly reads: number;
  /** An address where nothing listens. */
  readonly nowhere: string;
}

export async function run({ baseUrl, apiKey, reads, nowhere }: Task): Promise<Report> {
  const reseller = createReseller({ apiKey, baseUrl });
  const form = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
  const { data, attempts } = await reseller.vm.create(form).withMeta();
  const errors: unknown[] = [];
  for (const call of [() => reseller.vm.reinstall(99_999), () => reseller.vm.create({ ...form, cores: Number.NaN })]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    if (error instanceof NotFoundError || error instanceof InvalidError) errors.push([error.name, error.operation, error.attempts]);
    else throw error;
  }
  for (let count = 0; count < reads; count++) await reseller.domain.list();
  const entries = await reseller.account.requests().toArray();
  const log = entries.map(({ endpoint }) => endpoint);
  const nobody = await createReseller({ apiKey, baseUrl: nowhere, maxRetries: 0 })
    .vm.create(form)
    .then(String, (error: unknown) => (error instanceof Error ? error.name : String(error)));
  return { cores: data.config.cores, attempts, errors, log, nobody, distinct: new Set(entries.map(({ requestID }) => requestID)).size };
}

/** Buys on a connection that a read has opened. Returns the name of the error. */
export async function buyAfterRead(baseUrl: string): Promise<string> {
  const reseller = createReseller({ apiKey: 'key', baseUrl, maxRetries: 0 });
  await reseller.vm.hosts();
  const form = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
  return reseller.vm.create(form).then(String, (error: unknown) => (error instanceof Error ? error.name : String(error)));
}
