import { createMatcher, fillPath, pathParameters, readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import { attachCredential, checksWith, createRecorder, runContract, writeBody } from '@reseller/contract/engine';
import type { Check, Recorder, Report } from '@reseller/contract/engine';

import { otpRules } from '../../src/one-time-codes/rules.ts';
import { OWN_CHECKS, resellerRules } from '../../src/reseller.ts';
import { memoryJournal } from '../memory-journal.ts';
import { AMOUNTS } from './amounts.ts';
import type { Defect } from './defect.ts';
import { FAKE_KEY, startFakeService } from './fake-service.ts';
import type { FakeService, Tamper } from './fake-service.ts';
import { WORKSHOP } from './workshop-document.ts';
import { startWorkshop, WORKSHOP_TOKEN } from './workshop.ts';
import type { Workshop } from './workshop.ts';

/** All checks of the engine and of this API. */
export const ALL_CHECKS: readonly Check[] = checksWith([otpRules([]), ...OWN_CHECKS]);

/** The findings on a service without defects. All of them are false alarms. */
export async function controlRun(document: OpenApiDocument): Promise<Report['findings']> {
  return [...(await runAgainstFake(document)).findings, ...(await runAgainstWorkshop()).findings, ...(await clientFindings(document))];
}

/** A finding of a check on a service, and how to start a service of that kind again, with or without the defect. */
export interface Found {
  readonly finding: Report['findings'][number];
  readonly key: string;
  readonly start: (tamper?: Tamper) => Promise<RunningService>;
}

interface RunningService {
  readonly url: string | URL;
  close(): Promise<void>;
}

/**
 * The finding of the check of a defect. Runs all checks against services with the defect, which have one area of the API each, until
 * the check has a finding; undefined if none has.
 */
export async function findDefect(given: OpenApiDocument, defect: Defect): Promise<Found | undefined> {
  const check = ALL_CHECKS.find(({ id }) => id === defect.check);
  if (check === undefined) throw new Error(`There is no check ${defect.check}.`);
  function found(findings: Report['findings'], key: string, start: Found['start']): Found | undefined {
    const finding = findings.find(({ check: id }) => id === defect.check);
    return finding === undefined ? undefined : { finding, key, start };
  }
  const documents = [given, AMOUNTS].filter((one) => appliesTo(check, one));
  // The workshop is one service; it has no separate areas.
  if (documents.length === 0) return found((await runAgainstWorkshop(defect.tamper)).findings, WORKSHOP_TOKEN, startTampered);
  for (const document of documents) {
    // Some defects may appear only in the whole API.
    for (const part of [...areasOf(document).filter((area) => appliesTo(check, area)), document]) {
      const one = found(await findingsOnDefect(part, defect), FAKE_KEY, (tamper) => startFakeService(part, tamper));
      if (one !== undefined) return one;
    }
  }
  return undefined;
}

function appliesTo(check: Check, document: OpenApiDocument): boolean {
  return readOperations(document).some((operation) => check.applies(operation, document));
}

/** A cache, so that the schemas of an area are compiled once for all checks. */
const areas = new WeakMap<OpenApiDocument, readonly OpenApiDocument[]>();

/** The parts of a document whose paths have the same first segment, the smallest first. */
function areasOf(document: OpenApiDocument): readonly OpenApiDocument[] {
  const known = areas.get(document);
  if (known !== undefined) return known;
  const groups = Map.groupBy(Object.entries(document.paths ?? {}), ([path]) => path.split('/')[1]);
  const found = [...groups.values()]
    .toSorted((one, other) => one.length - other.length)
    .map((paths) => ({ ...document, paths: Object.fromEntries(paths) }));
  areas.set(document, found);
  return found;
}

async function findingsOnDefect(document: OpenApiDocument, defect: Defect): Promise<Report['findings']> {
  const { tamper, alterForm, undescribedPath } = defect;
  if (alterForm !== undefined || undescribedPath !== undefined) return clientFindings(document, defect);
  return (await runAgainstFake(document, tamper)).findings;
}

/** The findings on the recorded traffic of a client that sends the examples of the document, with or without a defect. */
export async function clientFindings(
  document: OpenApiDocument,
  { alterForm = (form) => form, undescribedPath }: Pick<Defect, 'alterForm' | 'undescribedPath'> = {},
): Promise<Report['findings']> {
  const service = await startFakeService(document);
  const recorder = createRecorder(document, resellerRules(document));
  try {
    for (const operation of readOperations(document)) {
      const request = requestOf(service.url, operation, alterForm);
      if (request !== undefined) await record(recorder, request);
    }
    if (undescribedPath !== undefined) await record(recorder, new Request(`${service.url}${undescribedPath}`));
    // A client need not call all operations, so unverified findings do not count.
    return recorder.report(new URL(service.url)).findings.filter(({ verdict }) => verdict !== 'unverified');
  } finally {
    await service.close();
  }
}

/** Sends a request and adds it to a recording with its response. */
async function record(recorder: Recorder, request: Request): Promise<void> {
  const { method, url, headers } = request;
  const requestBody = request.body === null ? undefined : await request.clone().text();
  const response = await fetch(request);
  recorder.take({
    method,
    url,
    requestHeaders: Object.fromEntries(headers),
    requestBody,
    at: new Date().toISOString(),
    status: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    bytes: new Uint8Array(await response.arrayBuffer()),
    milliseconds: 1,
  });
}

function requestOf(base: string, operation: Operation, alterForm: (form: string) => string | undefined): Request | undefined {
  const { method, path, body, parameters, security } = operation;
  const values = Object.fromEntries(
    parameters.flatMap(({ name, examples: [example] }) => (example === undefined ? [] : [[name, String(example)]])),
  );
  if (pathParameters(path).some((name) => values[name] === undefined)) return undefined;
  const [example] = Object.values(body?.examples ?? {});
  const good = example === undefined ? '' : writeBody(operation, Object(example.value));
  const headers = new Headers(good === '' || body === undefined ? {} : { 'content-type': body.mediaType });
  const query = new URLSearchParams();
  for (const key of security?.keys ?? []) attachCredential(key, FAKE_KEY, { headers, query });
  const url = new URL(`${base}${fillPath(path, values)}`);
  url.search = query.toString();
  return new Request(url, { method, headers, ...(good === '' ? {} : { body: alterForm(good) ?? good }) });
}

/** Runs all operations in full mode against a fake service with defects. */
export async function runAgainstFake(document: OpenApiDocument, tamper: Tamper = () => undefined): Promise<Report> {
  const service = await startFakeService(document, tamper);
  try {
    return await fullRun(document, service);
  } finally {
    await service.close();
  }
}

function fullRun(document: OpenApiDocument, service: FakeService): Promise<Report> {
  return runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    only: named(document),
    budget: { amount: 0n, unknown: 1_000 },
    journal: memoryJournal(),
    extensions: resellerRules(document, (code) => service.presentOtp(code)),
  });
}

/** Starts a workshop with defects. */
function startTampered(tamper: Tamper = () => undefined): Promise<Workshop> {
  const match = createMatcher(readOperations(WORKSHOP));
  return startWorkshop({
    replace({ method, path, headers, query }, reply) {
      const response = { status: reply.status, headers: reply.headers ?? {}, body: reply.text ?? reply.body ?? '' };
      const outcome = reply.status < 300 ? 'success' : reply.status === 401 ? 'unauthorized' : 'invalid-form';
      const tampered = tamper({
        document: WORKSHOP,
        operation: match(method, path)?.operation,
        method,
        outcome,
        key: reply.status === 401 ? 'wrong' : 'account',
        credential: headers.authorization,
        form: undefined,
        query: Object.fromEntries(query),
        response,
        success: () => response,
      });
      if (tampered === undefined) return reply;
      const { status, headers: changed, body } = tampered;
      return { status, headers: changed, ...(typeof body === 'string' ? { text: body } : { body }) };
    },
  });
}

/** Runs all operations in full mode against a workshop with defects. */
async function runAgainstWorkshop(tamper?: Tamper): Promise<Report> {
  const operations = readOperations(WORKSHOP);
  const workshop = await startTampered(tamper);
  try {
    return await runContract({
      document: WORKSHOP,
      target: workshop.url,
      apiKey: WORKSHOP_TOKEN,
      mode: 'full',
      also: new Map(operations.map(({ id }) => [id, undefined])),
      journal: memoryJournal(),
    });
  } finally {
    await workshop.close();
  }
}

/** All operations, with the example identifiers of the document for operations on existing resources. */
export function named(document: OpenApiDocument): ReadonlyMap<string, string | undefined> {
  return new Map(
    readOperations(document).map((operation) => {
      const parameter = operation.parameters.find((one) => one.in === 'path');
      const example = operation.readOnly ? undefined : parameter?.examples[0];
      return [operation.id, example === undefined ? undefined : String(example)];
    }),
  );
}
