/** Verifies the chain of audit records; OPERATIONS.md, "Audit". */
import { errorText } from '@reseller/contract/is-error';
import { StoreOpenError, StoreUnavailableError, verifyAuditChain } from '@reseller/service';

import { counted } from './command-line.ts';
import { ConfigurationError, readConfiguration } from './configuration.ts';
import { invocationOf } from './invocation.ts';
import { openStore } from './open-store.ts';

/** The exit code of a broken chain. */
const EXIT_CODE_BROKEN = 2;

async function main(noted: string | undefined): Promise<void> {
  const expected = noted === undefined ? undefined : parseLink(noted);
  const store = await openStore(readConfiguration(process.env));
  try {
    const { verified, erased, end, broken } = await verifyAuditChain(store, expected);
    const counts = [
      `${counted(verified, 'record')} verified`,
      ...(erased > 0 ? [`${erased} of them erased with the personal data of an account`] : []),
    ].join(', ');
    if (broken) {
      process.stdout.write(`The chain is broken at record ${broken.seq}: ${broken.why}.\n${counts}.\n`);
      process.exitCode = EXIT_CODE_BROKEN;
      return;
    }
    process.stdout.write(`The chain is intact: ${counts}.\n`);
    if (end.seq > 0) process.stdout.write(`Note its end elsewhere, and verify it later with --expect ${end.seq}:${end.hash}\n`);
  } finally {
    await store.close();
  }
}

function parseLink(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new ConfigurationError(`--expect needs a number and a hash, as an earlier run printed them, such as 12:9f86…; it is '${text}'.`);
  return { seq: Number(seq), hash };
}

const USAGE = `Usage: ${invocationOf('verify-audit', 'audit')} [--expect NUMBER:HASH]

Verifies that no audit record was changed, removed or put in between, and prints where the chain is broken (exit code 2). With --expect, it also
verifies that the chain was not recomputed since the run that printed the number and the hash. With the embedded store, stop the service first.
`;

const [option, value, ...rest] = process.argv.slice(2);
try {
  if (option === '--help') process.stdout.write(USAGE);
  else if (option === undefined || (option === '--expect' && value !== undefined && rest.length === 0)) await main(value);
  else {
    process.stderr.write(`verify-audit does not have the option ${option}.\n\n${USAGE}`);
    process.exitCode = 1;
  }
} catch (error) {
  const isExplained = error instanceof ConfigurationError || error instanceof StoreOpenError || error instanceof StoreUnavailableError;
  process.stderr.write(isExplained ? `${error.message}\n` : `The audit was not verified: ${errorText(error)}\n`);
  process.exitCode = 1;
}
