/**
 * Purchases that were sent and whose outcome this machine has not seen yet. Each has a file with its Idempotency-Key, written before the
 * request, so that the same command line buys once even if it, or the machine, crashes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { hasErrorCode } from '@reseller/contract';

import { EXIT, Failure } from './failure.ts';
import { stateFolder } from './folders.ts';
import { createPrivate, readIfPresent, writePrivate } from './private-file.ts';

/** A purchase, with everything that makes it the same one. */
export interface PurchaseIdentity {
  readonly url: string;
  readonly secret: string;
  readonly operation: string;
  readonly path: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, unknown>>;
}

export interface PendingPurchase {
  readonly id: string;
  readonly idempotencyKey: string;
  readonly operation: string;
  readonly url: string;
  /** The price guard that was sent. The form must be the same when it is sent again. */
  readonly guard: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly begunAt: string;
  /** How long the service keeps the key, in seconds; null if it does not say that it keeps keys. */
  readonly keyLifetime: number | null;
  readonly process: number;
  readonly host: string;
}

/** A purchase that may be sent. */
export interface BegunPurchase extends Pick<PendingPurchase, 'idempotencyKey' | 'guard'> {
  /** When an interrupted run of the same command began; undefined if this is the first. */
  readonly resumedFrom: string | undefined;
  /** Its outcome is known: a repeated command is a new purchase. */
  finish(): void;
}

/** A key that is about to expire may expire on the way. */
const SAFETY_SECONDS = 60;

/**
 * Begins a purchase, or resumes it with the same key if an earlier run of the same command was interrupted.
 *
 * @throws Failure if the same command is running, or its key may have expired.
 */
export function beginPurchase(
  env: NodeJS.ProcessEnv,
  identity: PurchaseIdentity,
  { keyLifetime, guard }: { readonly keyLifetime: number | undefined; readonly guard: PendingPurchase['guard'] },
): BegunPurchase {
  const id = idOf(identity);
  const file = join(pendingFolder(env), `${id}.json`);
  const mine = { process: process.pid, host: hostname() };
  const first: PendingPurchase = {
    id,
    idempotencyKey: randomUUID(),
    operation: identity.operation,
    url: identity.url,
    guard,
    begunAt: new Date().toISOString(),
    keyLifetime: keyLifetime ?? null,
    ...mine,
  };
  function finish(): void {
    rmSync(file, { force: true });
  }
  if (createPrivate(file, JSON.stringify(first))) return { ...first, resumedFrom: undefined, finish };
  const earlier = readPending(file);
  if (!earlier)
    throw new Failure(`${file} is not a pending purchase. Look whether the purchase was made, and delete the file.`, EXIT.unknown);
  checkResumable(earlier);
  writePrivate(file, JSON.stringify({ ...earlier, ...mine }));
  return { ...earlier, resumedFrom: earlier.begunAt, finish };
}

function checkResumable(earlier: PendingPurchase): void {
  if (isRunning(earlier)) {
    throw new Failure(
      `The same command is running in process ${earlier.process}. Wait for it. To make two purchases at the same time, give each its own --idempotency-key.`,
      EXIT.conflict,
    );
  }
  const age = (Date.now() - Date.parse(earlier.begunAt)) / 1000;
  if (earlier.keyLifetime !== null && age < earlier.keyLifetime - SAFETY_SECONDS) return;
  const why =
    earlier.keyLifetime === null
      ? 'The service does not say that it keeps idempotency keys'
      : `The service has kept its key for ${earlier.keyLifetime} seconds only`;
  throw new Failure(
    `The same command was interrupted at ${earlier.begunAt}, and the purchase may have been made. ${why}, so repeating it could buy twice. ` +
      `Look with 'reseller account requests' or in the list of what you own. Then run 'reseller pending forget ${earlier.id}'.`,
    EXIT.unknown,
  );
}

function isRunning({ process: pid, host }: PendingPurchase): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    // EPERM: it runs as another user.
    return hasErrorCode(error, 'EPERM');
  }
}

export function listPending(env: NodeJS.ProcessEnv): readonly PendingPurchase[] {
  return pendingFiles(env).flatMap((file) => readPending(join(pendingFolder(env), file)) ?? []);
}

/** @throws Failure if there is no such purchase. */
export function forgetPending(env: NodeJS.ProcessEnv, id: string): void {
  if (!pendingFiles(env).includes(`${id}.json`))
    throw new Failure(`No pending purchase is called ${id}. 'reseller pending list' shows them.`);
  rmSync(join(pendingFolder(env), `${id}.json`));
}

function pendingFiles(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    return readdirSync(pendingFolder(env)).filter((file) => file.endsWith('.json'));
  } catch {
    return [];
  }
}

function pendingFolder(env: NodeJS.ProcessEnv): string {
  return join(stateFolder(env), 'pending');
}

function readPending(file: string): PendingPurchase | undefined {
  try {
    const value: unknown = JSON.parse(readIfPresent(file) ?? 'null');
    return isPending(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPending(value: unknown): value is PendingPurchase {
  const { id, idempotencyKey, guard, begunAt } = Object(value);
  return [id, idempotencyKey, begunAt].every((text) => typeof text === 'string') && typeof guard === 'object';
}

/** The file of a purchase names neither the key of the account nor what is bought. */
function idOf({ url, secret, operation, path, form }: PurchaseIdentity): string {
  const account = createHash('sha256').update(secret).digest('hex');
  const text = JSON.stringify([url, account, operation, sortedByName(path), sortedByName(form)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function sortedByName(values: object): readonly (readonly [string, unknown])[] {
  return Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
