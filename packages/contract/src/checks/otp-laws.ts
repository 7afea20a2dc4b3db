import { isSuccess, jsonValue } from '../answer.ts';
import { hasOtp, otpIn } from '../otp.ts';
import type { Check } from '../check.ts';
import type { RunRemark } from '../finding.ts';
import { withMembers } from '../tamper.ts';

export const otpLaws: Check = {
  id: 'otp-laws',
  claim: 'A one-time code is new each time, valid once, and void as soon as another is generated.',
  judges:
    'Generates codes and compares them. That a code works once only, and not after a newer one, can be seen only where codes are presented: by the function `presentOtp` of the run, which the tests of the sandbox give it. Without it, those two laws stay unverified.',
  client: 'A code that you hand to a third party still opens the account after you believed it void.',
  needs: ['otp'],
  applies: (operation, document) => hasOtp(document, operation),
  conclude({ document, answers, otp }) {
    const codes = new Map<string, number>();
    const remarks: RunRemark[] = otp
      .filter(({ expected, observed }) => expected !== observed)
      .map(({ answer, law, expected, observed }) => ({
        ...base(answer),
        answer,
        message: law,
        expected: validity(expected),
        observed: validity(observed),
        rule: law,
      }));
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

function base({ operation }: RunRemark['answer']): Pick<RunRemark, 'pointer' | 'verdict' | 'at'> {
  return { pointer: '', verdict: 'violation', at: operation.pointer };
}

function validity(isValid: boolean): string {
  return isValid ? 'the code is valid' : 'the code is not valid';
}
