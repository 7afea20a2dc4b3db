import type { OpenApiDocument } from '../document/document.ts';
import type { Issue } from '../document/issues.ts';
import { isJsonType } from '../document/media-type.ts';
import type { Operation, OperationResponse } from '../document/operation.ts';
import { responseFor } from '../document/operations.ts';
import type { Validator } from '../document/validator.ts';
import { isOnlyInRange, jsonOf } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Check, RunContext, ResponseContext } from './check.ts';
import { readEnvelope } from './envelope.ts';
import type { Failures } from './failures.ts';
import type { Remark } from './finding.ts';

/** A remark with its check and its exchange. */
export interface Judged {
  readonly check: Check;
  readonly exchange: Exchange;
  readonly remark: Remark;
}

/** Runs the checks of one document. */
export interface Judge {
  /** Runs the checks of single responses. */
  readonly judgeResponse: (exchange: Exchange) => readonly Judged[];
  /** Runs the checks of whole runs. */
  readonly judgeRun: (context: Omit<RunContext, 'document' | 'operations' | 'validator' | 'envelope'>) => readonly Judged[];
}

export interface JudgeParts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  /** In the order in which they run. */
  readonly checks: readonly Check[];
  /** All exchanges of the run, if they are known. */
  readonly exchanges?: readonly Exchange[];
  /** Collects the errors of checks. */
  readonly failures: Failures;
}

export function createJudge(parts: JudgeParts): Judge {
  const { document, operations, validator, checks, exchanges = [], failures } = parts;
  const envelope = readEnvelope(document, operations);
  return {
    judgeResponse(exchange) {
      // The response to an undescribed method does not belong to the operation.
      const isForeign = exchange.sent.purpose === 'method';
      const response = isForeign ? undefined : responseFor(exchange.operation, exchange.status);
      const json = response === undefined || !isComparable(response, exchange) ? undefined : jsonOf(response);
      let issues: readonly Issue[] | undefined;
      const context: ResponseContext = {
        document,
        validator,
        exchange,
        exchanges,
        response,
        json,
        envelope,
        issues: () =>
          (issues ??=
            json?.pointer === undefined || exchange.body.kind !== 'json'
              ? []
              : withoutEchoes(validator.compile(json.pointer)(exchange.body.value))),
      };
      const judged: Judged[] = [];
      for (const check of checks) {
        const where = `the check ${check.id} of ${exchange.operation.id}`;
        const remarks = failures.attempt(where, () => check.checkResponse?.(context) ?? [], []);
        judged.push(...remarks.map((remark) => ({ check, exchange, remark })));
        if (check.isFinal === true && remarks.length > 0) break;
      }
      return judged;
    },
    judgeRun: (context) =>
      checks.flatMap((check) => {
        const whole = { ...context, document, operations, validator, envelope };
        const remarks = failures.attempt(`the check ${check.id}`, () => check.checkRun?.(whole) ?? [], []);
        return remarks.map(({ exchange, ...remark }) => ({ check, exchange, remark }));
      }),
  };
}

/** Whether a body is compared with the described JSON. Under a range of media types, another type than JSON is right too. */
function isComparable(response: OperationResponse, { mediaType }: Exchange): boolean {
  return !isOnlyInRange(response) || isJsonType(mediaType);
}

/** Rules whose violation follows from that of another rule. A wrong type causes all others. */
const CAUSES: readonly (readonly [cause: readonly string[], echoes: readonly string[] | 'all'])[] = [
  [['type'], 'all'],
  [
    ['const', 'enum'],
    ['pattern', 'format', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ],
  [['format'], ['pattern']],
];
/** Keywords about a member, not about the value at the path of the issue. */
const OF_MEMBERS: ReadonlySet<string> = new Set([
  'required',
  'dependentRequired',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]);

/** Removes issues that follow from another issue. */
function withoutEchoes(issues: readonly Issue[]): readonly Issue[] {
  // A list can have as many issues as items, so they are not compared with one another.
  const keywords = new Map<string, Set<string>>();
  for (const { path, keyword } of issues) keywords.set(path, (keywords.get(path) ?? new Set()).add(keyword));
  function isEcho({ path, keyword }: Issue): boolean {
    return CAUSES.some(
      ([causes, echoes]) =>
        !causes.includes(keyword) &&
        (echoes === 'all' || echoes.includes(keyword)) &&
        causes.some((cause) => keywords.get(path)?.has(cause)),
    );
  }
  return issues.filter((issue) => OF_MEMBERS.has(issue.keyword) || !isEcho(issue));
}

/** Whether a check judges an exchange, given that it applies to the operation. */
export function isPerformed(check: Check, exchange: Exchange): boolean {
  if (exchange.sent.purpose === 'method') return check.needs?.includes('method') === true;
  if (check.needs !== undefined) return check.needs.includes(exchange.sent.purpose);
  return responseFor(exchange.operation, exchange.status) === undefined ? check.undescribed !== undefined : check.undescribed !== 'only';
}
