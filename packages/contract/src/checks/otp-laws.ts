import { isSuccess, jsonValue } from '../answer.ts';
import { hasOtp, OTP_LAW_NAMES, OTP_LAWS, otpIn, type OtpLaw } from '../otp.ts';
import type { Answer } from '../answer.ts';
import type { Check, OtpProbe } from '../check.ts';
import type { OpenApiDocument } from '../document.ts';
import type { RunRemark } from '../finding.ts';
import { withMembers } from '../tamper.ts';

export const otpLaws: Check = {
  id: 'otp-laws',
  claim: 'A one-time code is new each time, valid once, and void as soon as another is generated.',
  judges:
    'Generates codes and compares them. That a code works once only, and not after a newer one, can be seen only where codes are presented: at the operator API, with `--operator URL`. Without it, or where it cannot tell, those laws are listed as unverified.',
  client: 'A code that you hand to a third party still opens the account after you believed it void.',
  needs: ['otp'],
  applies: (operation, document) => hasOtp(document, operation),
  conclude({ document, answers, otp }) {
    const codes = new Map<string, number>();
    const remarks: RunRemark[] = [...unasked(document, answers, otp), ...otp.flatMap(broken)];
    for (const answer of answers) {
      const code =
        isSuccess(answer.status) && hasOtp(document, answer.operation) ? otpIn(document, answer.operation, jsonValue(answer)) : undefined;
      if (code === undefined) continue;
      const times = (codes.get(code) ?? 0) + 1;
      codes.set(code, times);
      if (times > 1)
        remarks.push({
          ...base(answer),
          answer,
          message: 'a code is the same as an earlier one',
          expected: 'a new code',
          observed: 'the same code',
          rule: 'same',
        });
    }
    return remarks;
  },
  defect: {
    says: 'Every code is the same.',
    tamper: ({ document, operation, outcome, answer }) =>
      outcome === 'success' && operation !== undefined && hasOtp(document, operation)
        ? withMembers(answer, { data: { note: 'Valid for 10 minutes.', otp_code: '12345678' } })
        : undefined,
  },
};

function broken({ answer, law, expected, observed, reason }: OtpProbe): readonly RunRemark[] {
  if (expected === observed) return [];
  if (observed === undefined) return [unverified(answer, law, reason ?? 'nobody could tell')];
  return [{ ...base(answer), answer, message: law, expected: validity(expected), observed: validity(observed), rule: law }];
}

/** Codes were generated and presented to nobody: that is no pass. */
function unasked(document: OpenApiDocument, answers: readonly Answer[], otp: readonly OtpProbe[]): readonly RunRemark[] {
  const answer = answers.find(({ operation, status, sent }) => sent.purpose === 'otp' && isSuccess(status) && hasOtp(document, operation));
  if (answer === undefined || otp.length > 0) return [];
  return OTP_LAW_NAMES.map((law) => unverified(answer, law, 'codes were presented to nobody; --operator URL says where'));
}

function unverified(answer: Answer, law: OtpLaw, reason: string): RunRemark {
  return {
    ...base(answer),
    answer,
    verdict: 'unverified',
    message: `nobody saw whether ${law}`,
    expected: validity(OTP_LAWS[law]),
    observed: reason,
    rule: law,
  };
}

function base({ operation }: RunRemark['answer']): Pick<RunRemark, 'pointer' | 'verdict' | 'at'> {
  return { pointer: '', verdict: 'violation', at: operation.pointer };
}

function validity(isValid: boolean): string {
  return isValid ? 'the code is valid' : 'the code is not valid';
}
