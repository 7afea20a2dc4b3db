/** The transformers of `openapi-ts`, which make a `Date` of each instant, and a function for each operation that has one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createClient } from '@hey-api/openapi-ts';

/** Has `openapi-ts` write the transformers, and beside them the types that hold with them. */
export async function generateTransformers(into: string): Promise<void> {
  const { warn } = console;
  // It warns of each open enumeration, as it does not look into compositions. That matters only where an instant is within.
  // oxlint-disable-next-line no-console -- the generator speaks through it
  console.warn = (...said: unknown[]) => {
    const text = said.map(String).join(' ');
    if (!text.includes('Transformers warning') || /"format":"date/.test(text)) warn(...said);
  };
  try {
    await createClient({
      input: join(import.meta.dirname, '../../../openapi/dist/openapi.json'),
      logs: { file: false, level: 'silent' },
      output: { path: join(into, 'transformers'), module: { extension: '.ts' }, entryFile: false },
      plugins: [
        { name: '@hey-api/typescript', responses: { response: '{{name}}Success' } },
        { name: '@hey-api/transformers', dates: true },
      ],
    });
  } finally {
    // oxlint-disable-next-line no-console -- as it was
    console.warn = warn;
  }
}

/** `dates.gen.ts`: a function for each transformer that was generated. */
export function writeDates(into: string): string {
  const written = readFileSync(join(into, 'transformers', 'transformers.gen.ts'), 'utf8');
  const found = [...written.matchAll(/^export const (\w+)ResponseTransformer = .*Promise<(\w+)>/gm)];
  if (found.length === 0) throw new Error('openapi-ts wrote no transformer. Is the format of the instants still date-time?');
  return [
    `import { withDates } from '../runtime/dates.ts';`,
    `import type * as dated from './transformers/types.gen.ts';`,
    `import * as transformers from './transformers/transformers.gen.ts';`,
    `import type * as types from './types.gen.ts';`,
    '',
    ...found.flatMap(([, id = '', type = '']) => [
      `/** What \`${id}\` answers, each instant as a \`Date\`. @throws TypeError when the answer is not as the document describes it. */`,
      `export function ${id}(call: Promise<types.${type}['data']>): Promise<dated.${type}['data']> {`,
      `  return withDates(call, transformers.${id}ResponseTransformer);`,
      '}',
      '',
    ]),
  ].join('\n');
}
