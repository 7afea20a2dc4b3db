/** Runs the command of one operation. */
import type { Operation } from '@reseller/contract';

import type { Api } from './api.ts';
import { buyOnce } from './buy-once.ts';
import { callerOf } from './caller.ts';
import type { Caller, CallSettings, Result } from './caller.ts';
import { checkColumns, decisiveColumns } from './columns.ts';
import { exitCodeOf } from './errors.ts';
import { EXIT, Failure } from './failure.ts';
import type { Input } from './input.ts';
import type { Io } from './io.ts';
import { render } from './output.ts';
import type { Layout } from './output.ts';
import { describePrice, guardOf, presentExpiry, quote } from './price.ts';
import { withoutSecrets } from './secrets.ts';
import { findTarget } from './target.ts';
import { confirm, isInteractive, note, print } from './terminal.ts';
import { watch } from './watch.ts';

/** The options that commands of operations have in common. */
export interface RunOptions extends Layout {
  readonly profile: string | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
  /** Seconds between two readings; undefined to read once. */
  readonly watchSeconds: number | undefined;
  /** Whether a read prints secrets. A response to a write always has them, because it is the only one. */
  readonly showSecrets: boolean;
}

/** The exit code of a program that SIGINT ended. */
const INTERRUPTED = 130;

/** The command of an operation as a person gave it. */
export interface GivenCommand {
  readonly io: Io;
  readonly api: Api;
  readonly operation: Operation;
  readonly input: Input;
  readonly options: RunOptions;
}

interface Run extends GivenCommand {
  readonly caller: Caller;
}

/** @throws Failure or ResellerError if it was not carried out. */
export async function runOperation(given: GivenCommand): Promise<void> {
  const { io, api, operation, options } = given;
  checkColumns(api, operation, [...(options.columns ?? []), ...(options.sort === undefined ? [] : [options.sort.replace(/^-/, '')])]);
  const run: Run = { ...given, caller: callerOf(io, api, await findTarget(io, options.profile)) };
  if (options.dryRun) return dryRun(run);
  if (operation.readOnly) return read(run);
  return operation.billable && api.name === 'reseller' ? purchase(run) : change(run);
}

async function read({ io, api, operation, input, caller, options }: Run): Promise<void> {
  async function once(signal?: AbortSignal): Promise<string> {
    const { data, headers } = await caller.call(operation, input, { signal });
    const version = headers.get('etag');
    if (version !== null && options.watchSeconds === undefined) note(io, `Version, for --if-match: ${version}`);
    // Someone who asks for secrets also wants to see their columns.
    const decisive = options.showSecrets ? undefined : decisiveColumns(api, operation);
    return render(options.showSecrets ? data : withoutSecrets(api.document, data), { ...options, decisive });
  }
  if (options.watchSeconds === undefined) await print(io, await once());
  else await watch(io, once, options.watchSeconds);
}

/** Shows the request and its price. Sends only calls that change nothing. */
async function dryRun({ io, api, operation, input, caller, options }: Run): Promise<void> {
  const { method, url, body } = await caller.preview(operation, input);
  const price =
    operation.billable && api.name === 'reseller' ? describePrice((await quote(api, caller, operation, input)).price) : undefined;
  await print(
    io,
    render(
      { method, url, ...(price !== undefined && { price }), ...(Object.keys(body).length > 0 && { body }) },
      { ...options, columns: undefined, sort: undefined },
    ),
  );
  note(io, 'Nothing was sent.');
}

async function change({ io, operation, input, caller, options }: Run): Promise<void> {
  const { billable, destructive, summary } = operation;
  if (billable) await confirmed(io, `${summary}: this costs money.`, options);
  else if (destructive) await confirmed(io, `${summary}: this cannot be undone.`, options);
  await show(io, await caller.call(operation, input, keyOf(options)), options);
}

/** Shows the price, asks, and buys. */
async function purchase({ io, api, operation, input, caller, options }: Run): Promise<void> {
  const { price, keyLifetime } = await quote(api, caller, operation, input);
  // With --yes, nobody sees the expiry, and the service recognizes a second renewal within a minute better than an expiry that was just read.
  const expires = options.yes ? undefined : await presentExpiry(api, caller, operation, input);
  assertPriceKnown(operation, input, { hasPrice: price !== undefined, yes: options.yes });
  await confirmed(
    io,
    `${operation.summary} on ${caller.url}${expires === undefined ? '' : `\nExpires: ${expires}`}\nPrice: ${describePrice(price)}`,
    options,
  );
  if (options.idempotencyKey !== undefined) {
    const body = { ...guardOf(operation, { price, expires }), ...input.body };
    return show(io, await caller.call(operation, { ...input, body }, keyOf(options)), options);
  }
  // The key of the purchase is written before the request, so an interrupted purchase is continued.
  process.once('SIGINT', () => {
    note(io, '\nInterrupted. Run the same line again: it never buys twice.');
    process.exit(INTERRUPTED);
  });
  try {
    await buyOnce(
      { env: io.env, caller, operation, input, price, keyLifetime, expires },
      (result) => show(io, result, options),
      (begunAt) => note(io, `Continuing the same command of ${begunAt}, which was interrupted. It is bought once.`),
    );
  } catch (error) {
    if (exitCodeOf(error) === EXIT.unknown) note(io, 'Run the same command again. It finds out what happened, and never buys twice.');
    throw error;
  }
}

/**
 * A script must not buy at any price. A person at a terminal sees that the price is unknown, and decides.
 *
 * @throws Failure if `--yes` alone would buy at an unknown price.
 */
function assertPriceKnown({ form }: Operation, { body }: Input, { hasPrice, yes }: { hasPrice: boolean; yes: boolean }): void {
  if (hasPrice || !yes || body?.['max_price'] !== undefined) return;
  const next = form?.fields.has('max_price')
    ? 'Add --max-price with the highest net price that you accept.'
    : 'Run the command in a terminal without --yes, and confirm it there.';
  throw new Failure(
    `Nothing was bought: the service does not state the price of this purchase, so --yes is not enough. ${next}`,
    EXIT.tooExpensive,
  );
}

function keyOf({ idempotencyKey }: RunOptions): CallSettings {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

async function show(io: Io, { data, message }: Result, options: RunOptions): Promise<void> {
  if (data === null || data === undefined) note(io, message || 'Done.');
  else await print(io, render(data, options));
}

/** @throws Failure without a confirmation. */
async function confirmed(io: Io, question: string, { yes }: Pick<RunOptions, 'yes'>): Promise<void> {
  note(io, question);
  if (yes) return;
  if (!isInteractive(io)) {
    throw new Failure('Nothing was sent, because there is no terminal to ask for confirmation. Add --yes to do it.', EXIT.notConfirmed);
  }
  if (!(await confirm(io, 'Do it?'))) throw new Failure('Nothing was sent.', EXIT.notConfirmed);
}
