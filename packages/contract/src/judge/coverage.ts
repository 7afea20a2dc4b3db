import type { OpenApiDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import type { Operation, OperationResponse } from '../document/operation.ts';
import { responseFor } from '../document/operations.ts';
import { walkDescribed } from '../document/place.ts';
import { lastToken } from '../document/pointer.ts';
import { keysOf } from '../document/schema.ts';
import { rootView, visitViews } from '../document/view.ts';
import { isPlainCall, isSuccess, jsonOf, mediaFor } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Check } from './check.ts';
import { VERDICTS } from './finding.ts';
import type { Finding, Verdict } from './finding.ts';
import { isPerformed } from './judge.ts';

/** The result of a run for one operation. */
export interface Coverage {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly requests: number;
  /** Every status that the document describes or a response had. */
  readonly statuses: readonly StatusCoverage[];
  readonly fields: FieldCoverage;
  /** Every check that applies, with its outcome. */
  readonly checks: readonly CheckCoverage[];
  /** `passed` needs a described success and no finding. `unverified` does not count as passed. */
  readonly verdict: Verdict | 'passed' | 'accepted';
  /** Whether a response was a described success. It may still have findings. */
  readonly verified: boolean;
  /** The reason when it is not verified, else empty. */
  readonly reason: string;
}

export interface StatusCoverage {
  readonly status: string;
  readonly described: boolean;
  readonly times: number;
}

/**
 * The number of fields that the success describes, and of those that a response had. A schema that several places use counts once: schemas that
 * refer to one another have more places than a run could list.
 */
export interface FieldCoverage {
  readonly seen: number;
  readonly all: number;
}

const NO_FIELDS: FieldCoverage = { seen: 0, all: 0 };

export interface CheckCoverage {
  readonly check: string;
  readonly outcome: Verdict | 'passed' | 'not-performed';
}

export interface CoverageParts {
  readonly document: OpenApiDocument;
  readonly exchanges: readonly Exchange[];
  readonly findings: readonly Finding[];
  readonly reasons: ReadonlyMap<string, string>;
  readonly checks: readonly Check[];
  /** Operations that were left out, with the reason. They have no parts to cover. */
  readonly left: ReadonlyMap<string, string>;
}

/** The result of a run for one operation, by status, field and check. */
export function coverOperation(parts: CoverageParts, operation: Operation): Coverage {
  const { id, method, path } = operation;
  const left = parts.left.get(id);
  if (left !== undefined) return uncovered(operation, left);
  const exchanges = parts.exchanges.filter((exchange) => exchange.operation.id === id);
  const own = exchanges.filter(({ sent }) => sent.purpose !== 'method');
  const findings = parts.findings.filter(({ touches }) => touches.some((touch) => touch.operation === id));
  const verified = own.some(
    (exchange) => isPlainCall(exchange) && isSuccess(exchange.status) && isCompared(exchange, responseFor(operation, exchange.status)),
  );
  const worst = VERDICTS.find((verdict) => findings.some((finding) => finding.verdict === verdict));
  return {
    operation: id,
    method,
    path,
    requests: exchanges.length,
    statuses: statusesOf(operation, own),
    fields: fieldsOf(parts.document, operation, own),
    checks: checksOf(parts, operation, { exchanges, findings }),
    verdict: worst === undefined || (worst === 'unverified' && verified) ? (verified ? 'passed' : 'unverified') : worst,
    verified,
    reason: verified ? '' : (parts.reasons.get(id) ?? unprovenReason(own)),
  };
}

/** Whether a response has a description, with which it was compared. XML is not, so its schema proves nothing. */
function isCompared({ mediaType }: Exchange, response: OperationResponse | undefined): boolean {
  return response !== undefined && !(/[/+]xml$/.test(mediaType) && mediaFor(response, mediaType)?.pointer !== undefined);
}

/** The row of an operation of which nothing was covered, with the reason. */
export function uncovered({ id, method, path }: Operation, reason: string): Coverage {
  const nothing = { requests: 0, statuses: [], fields: NO_FIELDS, checks: [] };
  return { operation: id, method, path, ...nothing, verdict: 'unverified', verified: false, reason };
}

function statusesOf(operation: Operation, exchanges: readonly Exchange[]): readonly StatusCoverage[] {
  const times = new Map<string, number>();
  // 0 stands for a closed connection.
  for (const { status } of exchanges.filter((exchange) => exchange.status > 0))
    times.set(String(status), (times.get(String(status)) ?? 0) + 1);
  const all = new Set([...Object.keys(operation.responses), ...times.keys()]);
  return [...all]
    .toSorted()
    .map((status) => ({ status, described: responseFor(operation, Number(status)) !== undefined, times: times.get(status) ?? 0 }));
}

function fieldsOf(document: OpenApiDocument, operation: Operation, exchanges: readonly Exchange[]): FieldCoverage {
  const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (status === undefined || response === undefined || pointer === undefined) return NO_FIELDS;
  const { provenance } = response;
  const fields = new Map<string, Set<string>>();
  visitViews(rootView(document, pointer, provenance), ({ nodes }) => {
    for (const node of nodes) fields.set(node.pointer, fieldNames(node.schema));
    return false;
  });
  const all = countNames(fields);
  for (const { status: received, body } of exchanges) {
    if (String(received) !== status || body.kind !== 'json') continue;
    walkDescribed(document, { pointer, provenance }, body.value, ({ pattern, parents }) => {
      for (const parent of parents) fields.get(parent.pointer)?.delete(lastToken(pattern));
      return true;
    });
  }
  return { seen: all - countNames(fields), all };
}

/** The names of the properties that a schema describes, and `*` for its items or the keys of a map. */
function fieldNames(schema: JsonObject): Set<string> {
  const hasMany = typeof schema['items'] === 'object' || typeof schema['additionalProperties'] === 'object';
  return new Set([...keysOf(schema, 'properties'), ...(hasMany ? ['*'] : [])]);
}

function countNames(fields: ReadonlyMap<unknown, ReadonlySet<string>>): number {
  return [...fields.values()].reduce((sum, names) => sum + names.size, 0);
}

function checksOf(
  { document, checks }: CoverageParts,
  operation: Operation,
  seen: { readonly exchanges: readonly Exchange[]; readonly findings: readonly Finding[] },
): readonly CheckCoverage[] {
  return checks
    .filter((check) => check.applies(operation, document))
    .map((check) => {
      const found = VERDICTS.find((verdict) => seen.findings.some((finding) => finding.check === check.id && finding.verdict === verdict));
      const performed = seen.exchanges.some((exchange) => isPerformed(check, exchange));
      return { check: check.id, outcome: found ?? (performed ? 'passed' : 'not-performed') };
    });
}

function unprovenReason(exchanges: readonly Exchange[]): string {
  const plain = exchanges.filter(isPlainCall);
  if (plain.length === 0) return 'it was not called';
  if (plain.some(({ status, mediaType }) => isSuccess(status) && /[/+]xml$/.test(mediaType)))
    return 'its XML was not compared with the schema';
  if (plain.some(({ status }) => isSuccess(status))) return 'it succeeded with an undescribed status';
  if (plain.every(({ status }) => status === 0)) return 'it closed the connection in place of a response';
  return `it responded only with ${[...new Set(plain.map(({ status }) => status))].join(', ')}`;
}
