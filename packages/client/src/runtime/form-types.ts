/** A form as it is given: what is optional may also be `undefined`, which is left out. */
export type FormOf<Body> = { [Name in keyof NonNullable<Body>]: WithUndefined<NonNullable<Body>, Name> };

type WithUndefined<Form, Name extends keyof Form> = object extends Pick<Form, Name> ? Form[Name] | undefined : Form[Name];

/** `dependentRequired` of the document as a type: with the field `Name`, the fields `Needed` must be given too. */
export type Needs<Body, Name extends keyof NonNullable<Body>, Needed extends keyof NonNullable<Body>> =
  | { [Absent in Name]?: undefined }
  | { [Present in Needed]-?: NonNullable<NonNullable<Body>[Present]> };
