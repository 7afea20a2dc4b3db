/** Rows of CSV (RFC 4180) that spreadsheets can open safely. */

/** A text that a spreadsheet would take for a formula, also after white space. */
const FORMULA = /^\s*[=+\-@]|^[\t\r\n]/;

/** One row with its end of line. Null is an empty field. */
export function csvRow(fields: readonly (string | number | null)[]): string {
  return `${fields.map(fieldOf).join(',')}\r\n`;
}

function fieldOf(value: string | number | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
