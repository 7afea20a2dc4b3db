/** How the site shows the fields of a form or a response. */
import { flat } from './fields.ts';
import type { Field } from './fields.ts';
import { escapeVue, table } from './markdown.ts';
import type { Mark, Provenance } from './provenance.ts';

/** The fields as a Markdown table, with the path of each. */
export function fieldTable(fields: readonly Field[], mark: Mark): string {
  if (fields.length === 0) return '';
  return table(
    ['field', 'type', 'required', 'meaning'],
    flat(fields).map((field) => [`\`${field.path}\``, field.type, field.isRequired ? 'yes' : 'no', withMarks(field.meaning, field, mark)]),
  );
}

/** The fields as a list for VitePress. Objects within the first level are folded. */
export function fieldList(fields: readonly Field[], mark: Mark, depth = 0): string {
  if (fields.length === 0) return '';
  return ['<dl class="fields">', ...fields.map((field) => fieldItem(field, mark, depth)), '</dl>'].join('\n');
}

function fieldItem(field: Field, mark: Mark, depth: number): string {
  const { name, type, isRequired, meaning, isExtension, fields } = field;
  const of = isExtension ? ' class="of-extension"' : '';
  const required = isRequired ? ' <span class="required">required</span>' : '';
  // Blank lines around Markdown, so that it is not read as HTML.
  const parts = [
    `<dt${of}>\n\n\`${name}\` <span class="type">${escapeVue(type)}</span>${required}\n\n</dt>`,
    `<dd${of}>\n\n${withMarks(escapeVue(meaning), field, mark)}\n`,
  ];
  if (fields.length > 0) {
    const count = fields.length === 1 ? '1 field' : `${fields.length} fields`;
    parts.push(
      `<details${depth === 0 ? ' open' : ''}>\n<summary>${count} of <code>${escapeVue(name)}</code></summary>\n`,
      fieldList(fields, mark, depth + 1),
      '</details>',
    );
  }
  return [...parts, '</dd>'].join('\n');
}

/** The badge of a part whose provenance the reader must know. */
export function marked(provenance: Provenance, mark: Mark): string {
  return provenance === 'shown' || mark(provenance) === '' ? '' : `${mark(provenance)} `;
}

/** A paragraph, with the badges of its part at its end. */
export function withMarks(
  paragraph: string,
  { provenance, isExtension }: { readonly provenance: Provenance; readonly isExtension: boolean },
  mark: Mark,
): string {
  return [paragraph, marked(provenance, mark).trim(), isExtension ? mark('extension') : ''].filter((part) => part !== '').join(' ');
}
