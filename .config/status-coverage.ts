/**
 * Determines which described responses the tests of a run covered: the service sent them, and a test checked them against the document.
 * Writes reports/status-coverage.md.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { ring } from './rings.ts';

/** The documents, with the prefix of their operations in the file of covered responses. */
const BUNDLES = [
  { prefix: '', bundle: resolve(import.meta.dirname, '../openapi/generated/service.json') },
  { prefix: 'operator ', bundle: resolve(import.meta.dirname, '../openapi/generated/operator.json') },
];
/** Maximum number of missing responses in the line for the terminal. */
const MAX_NAMED = 8;
/** The responses that the last whole run of the inner ring covered. */
const SEEN_BY_INNER = resolve(import.meta.dirname, '../node_modules/.cache/seen-statuses');
const REPORTS = resolve(import.meta.dirname, '../reports');

export interface StatusCoverage {
  /** File to which tests append each response that they checked. */
  readonly file: string;
  /** Removes the file, and writes the report if the run had all tests. */
  conclude(isWhole: boolean): { readonly line: string; readonly missing: readonly string[] } | undefined;
}

/** @param reports Folder of the report. */
export function statusCoverage(reports = REPORTS): StatusCoverage {
  const directory = mkdtempSync(join(tmpdir(), 'seen-'));
  const file = join(directory, 'seen');
  // The ring `rest` continues the run of the inner ring before it.
  writeFileSync(file, ring === 'rest' && existsSync(SEEN_BY_INNER) ? readFileSync(SEEN_BY_INNER) : '');
  return {
    file,
    conclude(isWhole) {
      const seen = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
      rmSync(directory, { recursive: true, force: true });
      if (!isWhole) return undefined;
      if (ring === 'inner') {
        mkdirSync(dirname(SEEN_BY_INNER), { recursive: true });
        writeFileSync(SEEN_BY_INNER, [...seen].map((status) => `${status}\n`).join(''));
        return undefined;
      }
      const described = describedStatuses();
      const missing = described.filter((status) => !seen.has(status));
      const count = `${described.length - missing.length} of ${described.length} described responses of the service`;
      const list = missing.map((status) => `- ${status}\n`).join('');
      mkdirSync(reports, { recursive: true });
      writeFileSync(
        join(reports, 'status-coverage.md'),
        `# Status coverage\n\nThe tests covered ${count} and checked them against the document.\n\n${list === '' ? 'None is missing.\n' : `Missing:\n\n${list}`}`,
      );
      const named = `${missing.slice(0, MAX_NAMED).join(', ')}${missing.length > MAX_NAMED ? ' and more' : ''}`;
      const rest = missing.length === 0 ? '' : `. Missing: ${named}; all are in reports/status-coverage.md`;
      return { line: `The tests covered ${count}${rest}`, missing };
    },
  };
}

/** `operationId status` of each described response. */
export function describedStatuses(): string[] {
  return BUNDLES.flatMap(({ prefix, bundle }) => {
    const { paths }: { paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, unknown> }>> } = JSON.parse(
      readFileSync(bundle, 'utf8'),
    );
    return Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId, responses }) =>
        operationId === undefined ? [] : Object.keys(responses ?? {}).map((status) => `${prefix}${operationId} ${status}`),
      ),
    );
  });
}
