import type { OpenApiDocument } from '@reseller/contract';
import { isSuccess, jsonValue, withMembers } from '@reseller/contract/engine';
import type { Exchange, Check, RunRemark } from '@reseller/contract/engine';

import { codeIn, returnsCode } from './codes.ts';

/** What can be seen only where codes are presented, and whether the code that shows it must be accepted. */
export const OTP_RULES = {
  'a fresh code is valid': true,
  'a code is valid once': false,
  'a code is void once another is generated': false,
  'the newest code is valid': true,
} as const satisfies Readonly<Record<string, boolean>>;

export type OtpRule = keyof typeof OTP_RULES;

/** All laws in the order in which they are tried. */
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
  /** Undefined where the operator API gave no verdict; `reason` then says why. */
  readonly accepted: boolean | undefined;
  readonly reason?: string;
}

/** The check of the laws. `presented` is read when a run concludes. */
export function otpRules(presented: readonly Presented[]): Check {
  return {
    id: 'otp-rules',
    claim: 'A one-time code is new each time, valid once, and void as soon as another is generated.',
    judges:
      'Generates codes and compares them. Whether a code works only once, and not after a newer one, shows only where codes are presented: at the operator API, with `--operator URL`. Without it, or where the operator API gives no verdict, those laws are listed as unverified.',
    client: 'A code that you gave to a third party still opens the account after you believed it void.',
    needs: ['repeat'],
    applies: (operation, document) => returnsCode(document, operation),
    checkRun: ({ document, exchanges }) => [
      ...notPresented(document, exchanges, presented),
      ...presented.flatMap(brokenRule),
      ...repeatedCodes(document, exchanges),
    ],
    defect: {
      description: 'Every code is the same.',
      tamper: ({ document, operation, outcome, response }) =>
        outcome === 'success' && operation !== undefined && returnsCode(document, operation)
          ? withMembers(response, { data: { note: 'Valid for 10 minutes.', otp_code: '12345678' } })
          : undefined,
    },
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

/** Codes that were generated and never presented verify nothing. */
function notPresented(document: OpenApiDocument, exchanges: readonly Exchange[], presented: readonly Presented[]): readonly RunRemark[] {
  const exchange = exchanges.find(
    ({ operation, status, sent }) => sent.purpose === 'repeat' && isSuccess(status) && returnsCode(document, operation),
  );
  if (exchange === undefined || presented.length > 0) return [];
  return OTP_RULE_NAMES.map((rule) => unverified(exchange, rule, 'codes were not presented; --operator URL says where to'));
}

function unverified(exchange: Exchange, rule: OtpRule, reason: string): RunRemark {
  return {
    ...violation(exchange),
    verdict: 'unverified',
    message: `the run did not see whether ${rule}`,
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
