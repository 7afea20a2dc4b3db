/** Limits what the request log stores of a request, so that one API key cannot fill the disk. */

/** Characters of a refused request's form. A form that was carried out is limited by the rules of its fields. */
const MAX_LOGGED_FORM_LENGTH = 4_096;
/** Characters of a name or a value in a form that is cut. */
const MAX_CUT_TEXT_LENGTH = 256;
/** Characters of a path. */
export const MAX_LOGGED_PATH_LENGTH = 1_024;
/** Characters of a successful response that is not shared. A page of the log has 50 of them. */
export const MAX_LOGGED_RESPONSE_LENGTH = 65_536;

/**
 * Cuts a long form. The result is still the JSON text of an object, and says what was left out.
 *
 * @param form JSON text of an object, with its secrets masked.
 */
export function cutForm(form: string): string {
  if (form.length <= MAX_LOGGED_FORM_LENGTH) return form;
  const fields = Object.entries(Object(JSON.parse(form)));
  const shown: string[] = [];
  let length = 0;
  for (const [name, value] of fields) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const field = `${JSON.stringify(cutText(name, MAX_CUT_TEXT_LENGTH))}:${JSON.stringify(cutText(text, MAX_CUT_TEXT_LENGTH))}`;
    if ((length += field.length) > MAX_LOGGED_FORM_LENGTH) break;
    shown.push(field);
  }
  const omitted = fields.length - shown.length;
  if (omitted > 0) shown.push(`"…":"[cut: ${omitted} more ${omitted === 1 ? 'field' : 'fields'}]"`);
  return `{${shown.join(',')}}`;
}

/** The first characters of a long text, and its full length. */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…[cut: ${text.length} characters]`;
}
