import type { OpenApiDocument } from '@reseller/contract';
import { isSuccess, jsonValue, withMembers } from '@reseller/contract/engine';
import type { Answer, Check, RunRemark } from '@reseller/contract/engine';

import { codeIn, returnsCode } from './codes.ts';

/** What can be seen only where codes are presented, and whether the code that shows it must be accepted. */
export const LAWS = {
  'a fresh code is valid': true,
  'a code is valid once': false,
  'a code is void once another is generated': false,
  'the newest code is valid': true,
} as const satisfies Readonly<Record<string, boolean>>;

export type Law = keyof typeof LAWS;

/** All laws in the order in which they are tried. */
export const LAW_NAMES: readonly Law[] = [
  'a fresh code is valid',
  'a code is valid once',
  'a code is void once another is generated',
  'the newest code is valid',
];

/** A code that was presented, and whether it was accepted. */
export interface Presented {
  readonly answer: Answer;
  readonly law: Law;
  /** Undefined where the operator API gave no verdict; `reason` then says why. */
  readonly accepted: boolean | undefined;
  readonly reason?: string;
}

/** The check of the laws. `presented` is read when a run concludes. */
export function otpLaws(presented: readonly Presented[]): Check {
  return {
    id: 'otp-laws',
    claim: 'A one-time code is new each time, valid once, and void as soon as another is generated.',
    judges:
      'Generates codes and compares them. Whether a code works only once, and not after a newer one, shows only where codes are presented: at the operator API, with `--operator URL`. Without it, or where the operator API gives no verdict, those laws are listed as unverified.',
    client: 'A code that you gave to a third party still opens the account after you believed it void.',
    needs: ['repeat'],
    applies: (operation, document) => returnsCode(document, operation),
    conclude: ({ document, answers }) => [
      ...notPresented(document, answers, presented),
      ...presented.flatMap(brokenLaw),
      ...repeatedCodes(document, answers),
    ],
    defect: {
      says: 'Every code is the same.',
      tamper: ({ document, operation, outcome, answer }) =>
        outcome === 'success' && operation !== undefined && returnsCode(document, operation)
          ? withMembers(answer, { data: { note: 'Valid for 10 minutes.', otp_code: '12345678' } })
          : undefined,
    },
  };
}

function repeatedCodes(document: OpenApiDocument, answers: readonly Answer[]): readonly RunRemark[] {
  const seen = new Set<string>();
  return answers.flatMap((answer) => {
    const { operation, status } = answer;
    const code = isSuccess(status) && returnsCode(document, operation) ? codeIn(document, operation, jsonValue(answer)) : undefined;
    if (code === undefined) return [];
    if (!seen.has(code)) {
      seen.add(code);
      return [];
    }
    const texts = { message: 'a code is the same as an earlier one', expected: 'a new code', observed: 'the same code', rule: 'same' };
    return [{ ...violation(answer), ...texts }];
  });
}

function brokenLaw({ answer, law, accepted, reason }: Presented): readonly RunRemark[] {
  if (accepted === LAWS[law]) return [];
  if (accepted === undefined) return [unverified(answer, law, reason ?? 'the operator API gave no verdict')];
  return [{ ...violation(answer), message: law, expected: validity(LAWS[law]), observed: validity(accepted), rule: law }];
}

/** Codes that were generated and never presented verify nothing. */
function notPresented(document: OpenApiDocument, answers: readonly Answer[], presented: readonly Presented[]): readonly RunRemark[] {
  const answer = answers.find(
    ({ operation, status, sent }) => sent.purpose === 'repeat' && isSuccess(status) && returnsCode(document, operation),
  );
  if (answer === undefined || presented.length > 0) return [];
  return LAW_NAMES.map((law) => unverified(answer, law, 'codes were not presented; --operator URL says where to'));
}

function unverified(answer: Answer, law: Law, reason: string): RunRemark {
  return {
    ...violation(answer),
    verdict: 'unverified',
    message: `the run did not see whether ${law}`,
    expected: validity(LAWS[law]),
    observed: reason,
    rule: law,
  };
}

function violation(answer: Answer): Pick<RunRemark, 'answer' | 'pointer' | 'verdict' | 'at'> {
  return { answer, pointer: '', verdict: 'violation', at: answer.operation.pointer };
}

function validity(isValid: boolean): string {
  return isValid ? 'the code is valid' : 'the code is not valid';
}
