/** Markdown for VitePress. */

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  function line(cells: readonly string[]): string {
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} |`;
  }
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

/** VitePress reads `{{ }}` and tags in text as parts of a Vue component. */
export function escapeVue(markdown: string): string {
  return markdown
    .split(/(```[^]*?```|`[^`\n]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')))
    .join('');
}

/** A value as JSON in an attribute with single quotes. */
export function attribute(value: unknown): string {
  return JSON.stringify(value).replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
}
