import type { OpenApiDocument } from '@reseller/contract';
import { isSuccess, jsonValue } from '@reseller/contract/engine';
import type { Answer, Extension } from '@reseller/contract/engine';

import { codeIn, returnsCode } from './codes.ts';
import { otpLaws } from './laws.ts';
import type { Law, Presented } from './laws.ts';

/** Presents a one-time code as a third party would, and returns whether it was accepted; throws where the answer does not say. */
export type PresentCode = (code: string) => Promise<boolean>;

/**
 * Generates several codes and presents them as they come: the first is used twice, the second is kept until there is a third.
 * @param present where codes are presented; without it, codes are only compared
 */
export function oneTimeCodes(document: OpenApiDocument, present?: PresentCode): Extension {
  const presented: Presented[] = [];

  async function tryCode(presentCode: PresentCode, answer: Answer, law: Law, code: string): Promise<void> {
    try {
      presented.push({ answer, law, accepted: await presentCode(code) });
    } catch (error) {
      presented.push({ answer, law, accepted: undefined, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  return {
    checks: [otpLaws(presented)],
    steps: (operation, call) =>
      returnsCode(document, operation)
        ? [{ ...call, purpose: 'repeat', detail: 'a newer code', times: present === undefined ? 1 : 2 }]
        : [],
    async onAnswer(answer, answers) {
      const { operation, status } = answer;
      if (present === undefined || !isSuccess(status) || !returnsCode(document, operation)) return;
      const codes = answers
        .filter((one) => one.operation.id === operation.id && isSuccess(one.status))
        .map((one) => codeIn(document, operation, jsonValue(one)));
      const [latest, previous] = [codes.at(-1), codes.at(-2)];
      if (latest === undefined) return;
      if (codes.length === 1) {
        await tryCode(present, answer, 'a fresh code is valid', latest);
        await tryCode(present, answer, 'a code is valid once', latest);
      } else if (codes.length === 3 && previous !== undefined) {
        await tryCode(present, answer, 'a code is void once another is generated', previous);
        await tryCode(present, answer, 'the newest code is valid', latest);
      }
    },
  };
}
