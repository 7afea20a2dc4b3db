/** Which calls of a guide need the extension, found in its links, its TypeScript and its requests. */
import { EXTENSION_PLACES } from '@reseller/client/places';

import { operationsOf } from './document.ts';
import type { PlacedOperation } from './document.ts';
import type { ReadDocument } from './pages.ts';
import { EXTENSION_FOLDER, isOfExtension, operationPath } from './references.ts';
import { placeOf } from './samples.ts';

const FIRST_HEADING = /^# .*\n/m;
/** The guide about the gaps of the specification lists the whole extension itself. */
const LISTS_THEM = '## Only in the extension';

/** So that it stays one line. */
const MAX_NAMED = 5;

/** The guide with a line below its title, if it calls operations of the extension. */
export function withExtensionLine(guide: string, { reference, document }: ReadDocument, root: string): string {
  if (guide.includes(LISTS_THEM)) return guide;
  const called = operationsOf(document).filter((placed) => isOfExtension(placed.operation) && isCalled(guide, placed));
  if (called.length === 0) return guide;
  const links = called.map(({ operation }) => `[${operation.summary}](${root}${operationPath(reference, operation)}.md)`);
  const more = links.length > MAX_NAMED ? ` and ${links.length - MAX_NAMED} more` : '';
  const line = `**Needs the [extension](${root}guides/open-questions.md#extension):** ${links.slice(0, MAX_NAMED).join(', ')}${more}.`;
  return guide.replace(
    FIRST_HEADING,
    (heading) =>
      `${heading}\n<div class="needs-extension">\n\n${line} <span class="without-extension-only">This service does not have it.</span>\n\n</div>\n`,
  );
}

function isCalled(guide: string, { id, path, method }: PlacedOperation): boolean {
  const place = placeOf(id, EXTENSION_PLACES) ?? id;
  const segments = path.replaceAll('.', String.raw`\.`).replaceAll(/\{[^{}]+\}/g, String.raw`[^\s/'"?]+`);
  const request = new RegExp(String.raw`(?:\b${method} |-X ${method} \S*\d)${segments}(?![\w/-])`);
  return (
    guide.includes(`operations/${EXTENSION_FOLDER}/${id}.md`) ||
    new RegExp(String.raw`\breseller\.${place}\(`).test(guide) ||
    request.test(guide)
  );
}
