import type { OpenApiDocument } from '@reseller/contract';
import { isSuccess, jsonValue } from '@reseller/contract/engine';
import type { Exchange, Check, RunRemark } from '@reseller/contract/engine';

import { codeIn, returnsCode } from './codes.ts';

/** The rules that require presenting a code, and whether the code must be accepted. */
export const OTP_RULES = {
  'a fresh code is valid': true,
  'a code is valid once': false,
  'a code is void once another is generated': false,
  'the newest code is valid': true,
} as const satisfies Readonly<Record<string, boolean>>;

export type OtpRule = keyof typeof OTP_RULES;

/** All rules in the order in which they are tested. */
export const OTP_RULE_NAMES: readonly OtpRule[] = [
  'a fresh code is valid',
  'a code is valid once',
  'a code is void once another is generated',
  'the newest code is valid',
];

/** A code that was presented, and whether it was accepted. */
export interface Presented {
  readonly exchange: Exchange;
  readonly rule: OtpRule;
  /** Undefined when the operator API gave no verdict; `reason` then says why. */
  readonly accepted: boolean | undefined;
  readonly reason?: string;
}

/** The check of the rules. It reads `presented` at the end of a run. */
export function otpRules(presented: readonly Presented[]): Check {
  return {
    id: 'otp-rules',
    claim: 'Each one-time code is new, is valid once, and becomes invalid when another is generated.',
    judges:
      'Generates codes and compares them. With `--operator URL`, presents them at the operator API, to test that a code works once and not after a newer one was generated. Without it, or if the operator API gives no verdict, these rules are unverified.',
    client: 'A third party can still use a code that you believe to be invalid.',
    untestable: 'it needs the operator API, at which a code is presented',
    needs: ['repeat'],
    applies: (operation, document) => returnsCode(document, operation),
    checkRun: ({ document, exchanges }) => [
      ...notPresented(document, exchanges, presented),
      ...presented.flatMap(brokenRule),
      ...repeatedCodes(document, exchanges),
    ],
  };
}

function repeatedCodes(document: OpenApiDocument, exchanges: readonly Exchange[]): readonly RunRemark[] {
  const seen = new Set<string>();
  return exchanges.flatMap((exchange) => {
    const { operation, status } = exchange;
    const code = isSuccess(status) && returnsCode(document, operation) ? codeIn(document, operation, jsonValue(exchange)) : undefined;
    if (code === undefined) return [];
    if (!seen.has(code)) {
      seen.add(code);
      return [];
    }
    const texts = { message: 'a code is the same as an earlier one', expected: 'a new code', observed: 'the same code', rule: 'same' };
    return [{ ...violation(exchange), ...texts }];
  });
}

function brokenRule({ exchange, rule, accepted, reason }: Presented): readonly RunRemark[] {
  if (accepted === OTP_RULES[rule]) return [];
  if (accepted === undefined) return [unverified(exchange, rule, reason ?? 'the operator API gave no verdict')];
  return [{ ...violation(exchange), message: rule, expected: validity(OTP_RULES[rule]), observed: validity(accepted), rule }];
}

/** Reports the rules as unverified when no code was presented. */
function notPresented(document: OpenApiDocument, exchanges: readonly Exchange[], presented: readonly Presented[]): readonly RunRemark[] {
  const exchange = exchanges.find(
    ({ operation, status, sent }) => sent.purpose === 'repeat' && isSuccess(status) && returnsCode(document, operation),
  );
  if (exchange === undefined || presented.length > 0) return [];
  return OTP_RULE_NAMES.map((rule) =>
    unverified(exchange, rule, 'no code was presented; give the address of the operator API with --operator URL'),
  );
}

function unverified(exchange: Exchange, rule: OtpRule, reason: string): RunRemark {
  return {
    ...violation(exchange),
    verdict: 'unverified',
    message: `the run could not check whether ${rule}`,
    expected: validity(OTP_RULES[rule]),
    observed: reason,
    rule,
  };
}

function violation(exchange: Exchange): Pick<RunRemark, 'exchange' | 'pointer' | 'verdict' | 'at'> {
  return { exchange, pointer: '', verdict: 'violation', at: exchange.operation.pointer };
}

function validity(isValid: boolean): string {
  return isValid ? 'the code is valid' : 'the code is not valid';
}
