import { isSuccess, jsonOf, type Answer } from './answer.ts';
import { bodyReadable } from './checks/body-readable.ts';
import { contentTypeDocumented } from './checks/content-type-documented.ts';
import { envelopeKept } from './checks/envelope.ts';
import { errorInSuccess } from './checks/error-in-success.ts';
import { propertyDescribed } from './checks/property-described.ts';
import { schemaHolds } from './checks/schema.ts';
import { statusDocumented } from './checks/status-documented.ts';
import { valueSeen } from './checks/value-seen.ts';
import type { OpenApiDocument } from './document.ts';
import type { AnswerCheck, Finding, Remark, Subject, Verdict } from './finding.ts';
import type { Operation } from './operation.ts';
import { responseFor } from './operations.ts';
import { schemaNodes } from './schema.ts';
import type { Validator } from './validator.ts';

/** All checks on an answer, in the order in which they look. */
export const ANSWER_CHECKS: readonly AnswerCheck[] = [
  statusDocumented,
  envelopeKept,
  contentTypeDocumented,
  bodyReadable,
  errorInSuccess,
  schemaHolds,
  propertyDescribed,
  valueSeen,
];

const SEVERITY: readonly Verdict[] = ['violation', 'learned', 'discovered'];

/** Judges answers by one document. */
export type Judge = (answer: Answer) => readonly Finding[];

/** A judge for the answers of a document's operations; `validator` is the one of the same document. */
export function createJudge(document: OpenApiDocument, operations: readonly Operation[], validator: Validator): Judge {
  const envelope = commonProperties(document, operations);
  return (answer) => {
    const response = responseFor(answer.operation, answer.status);
    const subject: Subject = {
      document,
      validator,
      answer,
      response,
      json: response === undefined ? undefined : jsonOf(response),
      envelope,
    };
    const findings: Finding[] = [];
    for (const check of ANSWER_CHECKS) {
      const remarks = check.look(subject);
      findings.push(...merge(remarks).map((remark) => toFinding(check, answer, remark)));
      if (check.isFinal && remarks.length > 0) break;
    }
    return findings;
  };
}

interface Counted {
  readonly remark: Remark;
  readonly times: number;
}

function merge(remarks: readonly Remark[]): readonly Counted[] {
  const merged = new Map<string, Counted>();
  for (const remark of remarks) {
    const key = `${remark.verdict} ${remark.rule}`;
    const known = merged.get(key);
    merged.set(key, { remark: known?.remark ?? remark, times: (known?.times ?? 0) + 1 });
  }
  return [...merged.values()];
}

function toFinding(check: AnswerCheck, answer: Answer, { remark, times }: Counted): Finding {
  const { pointer, verdict, message, expected, observed } = remark;
  return { check: check.id, operation: answer.operation.id, status: answer.status, pointer, verdict, message, expected, observed, times };
}

/** The gravest of the verdicts, or undefined where there is none. */
export function worst(findings: readonly Finding[]): Verdict | undefined {
  return SEVERITY.find((verdict) => findings.some((finding) => finding.verdict === verdict));
}

/** The properties that every JSON answer of the document requires at its top: its envelope, as far as it has one. */
function commonProperties(document: OpenApiDocument, operations: readonly Operation[]): readonly string[] {
  let common: readonly string[] | undefined;
  for (const { responses } of operations) {
    for (const response of Object.values(responses)) {
      const pointer = jsonOf(response)?.pointer;
      if (pointer === undefined) continue;
      const required = new Set(schemaNodes(document, pointer).flatMap(({ schema }) => stringsIn(schema['required'])));
      common = common === undefined ? [...required] : common.filter((name) => required.has(name));
    }
  }
  return common ?? [];
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Whether an answer shows what the operation is for: a described success. */
export function isProof({ operation, status }: Answer): boolean {
  return isSuccess(status) && responseFor(operation, status) !== undefined;
}
