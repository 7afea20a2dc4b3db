import { readOperations, type OpenApiDocument } from '@reseller/contract';
import { runContract, type Check, type Report } from '@reseller/contract/engine';
import { FAKE_KEY, startFakeService, type FakeService, type Tamper } from './fake/fake-service.ts';
import { memoryJournal } from './memory-journal.ts';

/** What the selftest found out about one check. */
export interface Proof {
  readonly check: string;
  /** What was wrong with the service. */
  readonly defect: string;
  /** Whether the check found it. */
  readonly found: boolean;
  /** Other checks that had something to say of the same defect. */
  readonly others: readonly string[];
}

/** What is found in a service without defects: nothing, or a false alarm. */
export async function controlRun(document: OpenApiDocument): Promise<Report['findings']> {
  return (await runAgainstFake(document)).findings;
}

/** Runs everything against a service with the defect of one check. */
export async function proveCheck(document: OpenApiDocument, check: Check): Promise<Proof> {
  const { findings } = await runAgainstFake(document, check.defect.tamper, check.defect.needsComparison === true);
  const ids = new Set(findings.map((finding) => finding.check));
  return { check: check.id, defect: check.defect.says, found: ids.has(check.id), others: [...ids].filter((id) => id !== check.id) };
}

/** A full run against a service made of the document, with some defects; what may be called by name is. */
export async function runAgainstFake(document: OpenApiDocument, tamper: Tamper = () => undefined, isCompared = false): Promise<Report> {
  const service = await startFakeService(document, isCompared ? undefined : tamper);
  const other = isCompared ? await startFakeService(document, tamper) : undefined;
  try {
    return await fullRun(document, service, other);
  } finally {
    await service.close();
    await other?.close();
  }
}

function fullRun(document: OpenApiDocument, service: FakeService, other: FakeService | undefined): Promise<Report> {
  return runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    only: named(document),
    budget: { amount: 0n, unknown: 1_000 },
    journal: memoryJournal(),
    presentOtp: (code) => service.presentOtp(code),
    ...(other === undefined ? {} : { compare: { target: new URL(other.url), apiKey: FAKE_KEY } }),
  });
}

/** Every operation by name, with the thing of the document's example for what only works on things that exist. */
export function named(document: OpenApiDocument): ReadonlyMap<string, string | undefined> {
  return new Map(
    readOperations(document).map((operation) => {
      const parameter = operation.parameters.find((one) => one.in === 'path');
      const example = operation.readOnly ? undefined : parameter?.examples[0];
      return [operation.id, example === undefined ? undefined : String(example)];
    }),
  );
}
