import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseDocument, type OpenApiDocument } from '@reseller/contract';
import { CannotRunError } from './cannot-run.ts';

/**
 * The bundle of the reseller document.
 * @throws {CannotRunError} when it has not been built
 */
export async function loadDocument(): Promise<OpenApiDocument> {
  const place = fileURLToPath(import.meta.resolve('@reseller/openapi/openapi.json'));
  let text: string;
  try {
    text = await readFile(place, 'utf8');
  } catch (error) {
    throw new CannotRunError('The bundle of the document is missing. Build it: pnpm --filter @reseller/openapi build', { cause: error });
  }
  return parseDocument(JSON.parse(text));
}
