import { isSuccess, jsonValue, type Answer } from './answer.ts';
import type { OtpProbe } from './check.ts';
import type { OpenApiDocument } from './document.ts';
import { responseFor } from './operations.ts';
import { hasOtp, OTP_LAWS, otpIn, type OtpLaw } from './otp.ts';

interface Sofar {
  readonly document: OpenApiDocument;
  /** All answers, the newest last. */
  readonly answers: readonly Answer[];
}

/**
 * Presents codes as they are generated: the first is used and used again, the second is let lie until there is a third.
 * @returns what came of it; nothing for answers that carry no code, or one that has to lie
 */
export async function presentCode(
  { document, answers }: Sofar,
  answer: Answer,
  present: (code: string) => Promise<boolean>,
): Promise<readonly OtpProbe[]> {
  const { operation, status } = answer;
  if (!isSuccess(status) || responseFor(operation, status) === undefined || !hasOtp(document, operation)) return [];
  const generated = answers.filter((one) => one.operation.id === operation.id && isSuccess(one.status));
  const codeOf = (one: Answer | undefined): string | undefined =>
    one === undefined ? undefined : otpIn(document, operation, jsonValue(one));
  const [latest, before] = [codeOf(generated.at(-1)), codeOf(generated.at(-2))];
  if (latest === undefined) return [];
  const probe = async (law: OtpLaw, code: string): Promise<OtpProbe> => {
    const base = { answer, law, expected: OTP_LAWS[law] };
    try {
      return { ...base, observed: await present(code) };
    } catch (error) {
      return { ...base, observed: undefined, reason: error instanceof Error ? error.message : String(error) };
    }
  };
  if (generated.length === 1) return [await probe('a fresh code is valid', latest), await probe('a code is valid once', latest)];
  if (generated.length !== 3 || before === undefined) return [];
  return [await probe('a code is void once another is generated', before), await probe('the newest code is valid', latest)];
}
