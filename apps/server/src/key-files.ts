import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { hasErrorCode } from '@reseller/contract/is-error';
import { DEMO_ACCOUNT, hasIdentity, issueApiKey, makePrivate, StoreOpenError } from '@reseller/service';
import type { Ports, Store } from '@reseller/service';

/**
 * The service's secret, generated at the first start in a file that only its owner can read.
 *
 * @throws StoreOpenError if the file is missing but the store has been used, because a new secret would not fit the store.
 */
export async function secretFrom(dataDirectory: string, store: Store): Promise<string> {
  const file = join(dataDirectory, 'secret');
  const kept = read(file);
  if (kept !== undefined) return kept;
  if (await hasIdentity(store)) {
    throw new StoreOpenError(
      `The file ${file} is missing, and the store next to it cannot be used without it. Restore the file, or set RESELLER_SECRET to its content.`,
    );
  }
  return write(file, randomBytes(32).toString('hex'));
}

/** The operator token of a sandbox, generated at the first start. */
export function operatorTokenFrom(dataDirectory: string): string {
  const file = join(dataDirectory, 'operator-token');
  return read(file) ?? write(file, `rso_${randomBytes(32).toString('hex')}`);
}

/**
 * A key of the demo account, so that the sandbox can be used immediately. The store keeps only its hash.
 * The file is for the developer at this machine and readable only by its owner.
 */
export async function demoApiKey(store: Store, ports: Ports, dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'demo-api-key');
  return (
    read(file) ?? write(file, await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'demo', mode: 'sandbox' })))
  );
}

/** The addresses of the running sandbox, for programs on this machine such as the script `try`. @returns removes the file */
export function writeAddresses(dataDirectory: string, addresses: { readonly baseUrl: string; readonly operatorUrl: string }): () => void {
  const file = join(dataDirectory, 'running.json');
  write(file, JSON.stringify(addresses));
  return () => rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  try {
    makePrivate(file);
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes the whole file or nothing, even if the machine crashes. */
function write(file: string, content: string): string {
  const temporary = `${file}.new`;
  // A file from an interrupted start would keep its mode.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${content}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(temporary, file);
  return content;
}
