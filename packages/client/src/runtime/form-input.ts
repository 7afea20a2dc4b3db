/** A form whose other fields, and whether any is required, are not known. */
export type OpenFormInput<Form> = Partial<FormInput<Form>> & { readonly [name: string]: string | number | boolean | undefined };

/** A form as callers pass it: optional fields may also be `undefined`, which leaves them out. */
export type FormInput<Form> = { [Name in keyof Form]: object extends Pick<Form, Name> ? Form[Name] | undefined : Form[Name] };
