import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { DEMO_ACCOUNT, hasIdentity, issueApiKey, makePrivate, StoreOpenError } from '@reseller/service';
import type { Ports, Store } from '@reseller/service';

/**
 * The service's secret: made at the first start and kept in a file that its owner alone can read.
 *
 * @throws StoreOpenError when the file is missing although the store has been used; a new secret would not fit it.
 */
export async function secretFrom(dataDirectory: string, store: Store): Promise<string> {
  const file = join(dataDirectory, 'secret');
  const kept = read(file);
  if (kept !== undefined) return kept;
  if (await hasIdentity(store)) {
    throw new StoreOpenError(
      `The file ${file} is missing, and the store next to it cannot be used without it. Put the file back, or set RESELLER_SECRET to what it held.`,
    );
  }
  return write(file, randomBytes(32).toString('hex'));
}

/** The operator token of a sandbox: made at the first start, as the secret is. */
export function operatorTokenFrom(dataDirectory: string): string {
  const file = join(dataDirectory, 'operator-token');
  return read(file) ?? write(file, `rso_${randomBytes(32).toString('hex')}`);
}

/**
 * A key of the demo account, so that the sandbox can be used at once. The store keeps its hash
 * alone; this file, which its owner alone can read, is for the developer at this machine.
 */
export async function demoApiKey(store: Store, ports: Ports, dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'demo-api-key');
  return (
    read(file) ?? write(file, await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'demo', mode: 'sandbox' })))
  );
}

function read(file: string): string | undefined {
  try {
    makePrivate(file);
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whole or not at all, also when the machine stops in between. */
function write(file: string, content: string): string {
  const temporary = `${file}.new`;
  // A file that an interrupted start has left would keep its mode.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${content}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(temporary, file);
  return content;
}
