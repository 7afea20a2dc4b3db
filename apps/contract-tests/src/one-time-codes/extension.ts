import { errorText } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import { isSuccess, jsonValue } from '@reseller/contract/engine';
import type { Exchange, Extension } from '@reseller/contract/engine';

import { codeIn, returnsCode } from './codes.ts';
import { otpRules } from './rules.ts';
import type { OtpRule, Presented } from './rules.ts';

/** Presents a one-time code as a third party and returns whether it was accepted. Throws when the response does not show that. */
export type PresentCode = (code: string) => Promise<boolean>;

/**
 * Generates three codes. Presents the first twice, and the second and the third after the third was generated.
 * @param present presents a code; without it, codes are only compared
 */
export function oneTimeCodes(document: OpenApiDocument, present?: PresentCode): Extension {
  const presented: Presented[] = [];

  async function tryCode(presentCode: PresentCode, exchange: Exchange, rule: OtpRule, code: string): Promise<void> {
    try {
      presented.push({ exchange, rule, accepted: await presentCode(code) });
    } catch (error) {
      presented.push({ exchange, rule, accepted: undefined, reason: errorText(error) });
    }
  }

  return {
    checks: [otpRules(presented)],
    steps: (operation, call) =>
      returnsCode(document, operation)
        ? [{ ...call, purpose: 'repeat', detail: 'a newer code', times: present === undefined ? 1 : 2 }]
        : [],
    async onExchange(exchange, exchanges) {
      const { operation, status } = exchange;
      if (present === undefined || !isSuccess(status) || !returnsCode(document, operation)) return;
      const codes = exchanges
        .filter((one) => one.operation.id === operation.id && isSuccess(one.status))
        .map((one) => codeIn(document, operation, jsonValue(one)));
      const [latest, previous] = [codes.at(-1), codes.at(-2)];
      if (latest === undefined) return;
      if (codes.length === 1) {
        await tryCode(present, exchange, 'a fresh code is valid', latest);
        await tryCode(present, exchange, 'a code is valid once', latest);
      } else if (codes.length === 3 && previous !== undefined) {
        await tryCode(present, exchange, 'a code is void once another is generated', previous);
        await tryCode(present, exchange, 'the newest code is valid', latest);
      }
    },
  };
}
