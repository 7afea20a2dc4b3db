import type { Check, RunContext, ResponseContext } from './check.ts';
import type { OpenApiDocument } from './document.ts';
import { readEnvelope } from './envelope.ts';
import { jsonOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { Remark } from './finding.ts';
import type { Issue } from './issues.ts';
import type { Operation } from './operation.ts';
import { responseFor } from './operations.ts';
import type { Validator } from './validator.ts';

/** A remark, with who made it and on what. */
export interface Judged {
  readonly check: Check;
  readonly exchange: Exchange;
  readonly remark: Remark;
}

/** Judges responses by one document. */
export interface Judge {
  /** The remarks of the checks of one response. */
  readonly judgeResponse: (exchange: Exchange) => readonly Judged[];
  /** The remarks of the checks of a whole run about all its responses. */
  readonly judgeRun: (context: Omit<RunContext, 'document' | 'operations' | 'validator' | 'envelope'>) => readonly Judged[];
}

/** What a judge is made of; `validator` is that of the same document. */
export interface JudgeParts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  /** In the order in which they look at a response. */
  readonly checks: readonly Check[];
}

/** A judge for the responses of a document's operations. */
export function createJudge(parts: JudgeParts): Judge {
  const { document, operations, validator, checks } = parts;
  const envelope = readEnvelope(document, operations);
  return {
    judgeResponse(exchange) {
      // The response to a method that is not described does not belong to the operation.
      const isForeign = exchange.sent.purpose === 'method';
      const response = isForeign ? undefined : responseFor(exchange.operation, exchange.status);
      const json = response === undefined ? undefined : jsonOf(response);
      let issues: readonly Issue[] | undefined;
      const context: ResponseContext = {
        document,
        validator,
        exchange,
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
        const remarks = check.checkResponse?.(context) ?? [];
        judged.push(...remarks.map((remark) => ({ check, exchange, remark })));
        if (check.isFinal === true && remarks.length > 0) break;
      }
      return judged;
    },
    judgeRun: (context) =>
      checks.flatMap(
        (check) =>
          check
            .checkRun?.({ ...context, document, operations, validator, envelope })
            .map(({ exchange, ...remark }) => ({ check, exchange, remark })) ?? [],
      ),
  };
}

/** Rules that a value breaks only because it breaks another: of a value of the wrong type, nothing else is worth saying. */
const CAUSES: readonly (readonly [cause: readonly string[], echoes: readonly string[] | 'all'])[] = [
  [['type'], 'all'],
  [
    ['const', 'enum'],
    ['pattern', 'format', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ],
  [['format'], ['pattern']],
];
/** These speak of a member, not of the value at the path of the issue. */
const OF_MEMBERS: ReadonlySet<string> = new Set([
  'required',
  'dependentRequired',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]);

/** One cause, one issue. */
function withoutEchoes(issues: readonly Issue[]): readonly Issue[] {
  return issues.filter(
    ({ path, keyword }) =>
      OF_MEMBERS.has(keyword) ||
      !CAUSES.some(
        ([causes, echoes]) =>
          !causes.includes(keyword) &&
          (echoes === 'all' || echoes.includes(keyword)) &&
          issues.some((other) => other.path === path && causes.includes(other.keyword)),
      ),
  );
}

/** Whether a check that applies to an operation had something to look at in a response of it. */
export function isPerformed(check: Check, exchange: Exchange): boolean {
  if (exchange.sent.purpose === 'method') return check.needs?.includes('method') === true;
  if (check.needs !== undefined) return check.needs.includes(exchange.sent.purpose);
  return responseFor(exchange.operation, exchange.status) === undefined ? check.undescribed !== undefined : check.undescribed !== 'only';
}
