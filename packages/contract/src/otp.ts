import { jsonOf } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { walkDescribed } from './place.ts';
import { keysOf } from './schema.ts';
import { rootView, type View } from './view.ts';

/** What can be seen only where codes are presented, and whether the code that shows it must be taken. */
export const OTP_LAWS = {
  'a fresh code is valid': true,
  'a code is valid once': false,
  'a code is void once another is generated': false,
  'the newest code is valid': true,
} as const satisfies Readonly<Record<string, boolean>>;

export type OtpLaw = keyof typeof OTP_LAWS;

/** All of them, in the order in which they are tried. */
export const OTP_LAW_NAMES: readonly OtpLaw[] = [
  'a fresh code is valid',
  'a code is valid once',
  'a code is void once another is generated',
  'the newest code is valid',
];

const NAME = /otp|one.?time|totp/i;
const DEPTH = 3;

/** Whether an operation answers a one-time code: a secret that is called one. */
export function hasOtp(document: OpenApiDocument, operation: Operation): boolean {
  const pointer = schemaOf(operation);
  return pointer !== undefined && !operation.readOnly && names(rootView(document, pointer), 0);
}

/** The one-time code in an answer's body. */
export function otpIn(document: OpenApiDocument, operation: Operation, body: unknown): string | undefined {
  const pointer = schemaOf(operation);
  if (pointer === undefined) return undefined;
  let code: string | undefined;
  walkDescribed(document, { pointer, provenance: 'shown' }, body, ({ name, nodes, value }) => {
    if (typeof value === 'string' && NAME.test(name) && nodes.some(({ schema }) => schema['x-secret'] === true)) code ??= value;
    return true;
  });
  return code;
}

function schemaOf({ responses }: Operation): string | undefined {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  return success === undefined ? undefined : jsonOf(success)?.pointer;
}

function names(view: View, depth: number): boolean {
  if (depth > DEPTH) return false;
  return view.nodes
    .flatMap(({ schema }) => keysOf(schema, 'properties'))
    .some((name) => {
      const below = view.member(name).view;
      return (NAME.test(name) && below.nodes.some(({ schema }) => schema['x-secret'] === true)) || names(below, depth + 1);
    });
}
