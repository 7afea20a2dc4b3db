/** The deviations from the document that a lenient service accepts (not shown in the specification; our choice). */

/** The names in the `Deviation` header. The description of the document explains each. */
export const deviations = ['json-body', 'multipart-body', 'boolean-text', 'trailing-slash', 'bearer-token'] as const;
export type Deviation = (typeof deviations)[number];
