/**
 * Which answers that the document describes were given by the service in a run of the tests, and
 * judged by the document. Writes reports/status-coverage.md and says in one line what is missing.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

/** The documents, with what stands before their operations in the file of what was seen. */
const BUNDLES = [
  { prefix: '', bundle: new URL('../openapi/dist/openapi.json', import.meta.url) },
  { prefix: 'operator ', bundle: new URL('../openapi/dist/operator.json', import.meta.url) },
];
/** Missing answers that the closing line names. */
const NAMED = 8;
const REPORT = new URL('../reports/', import.meta.url);

export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'seen-'));
  const file = join(directory, 'seen');
  writeFileSync(file, '');
  project.provide('seenStatuses', file);
  return () => {
    const seen = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
    rmSync(directory, { recursive: true, force: true });
    // A run of other tests alone says nothing about the service.
    if (seen.size === 0) return;
    const described = BUNDLES.flatMap(describedStatuses);
    const missing = described.filter((answer) => !seen.has(answer));
    const text = missing.map((answer) => `- ${answer}\n`).join('');
    mkdirSync(REPORT, { recursive: true });
    writeFileSync(
      new URL('status-coverage.md', REPORT),
      `# Status coverage\n\n${described.length - missing.length} of ${described.length} described answers were given by the service and judged by the document.\n\n${text === '' ? 'None is missing.\n' : `Missing:\n\n${text}`}`,
    );
    const some = missing.slice(0, NAMED).join(', ');
    process.stdout.write(
      `${described.length - missing.length} of ${described.length} described answers of the service were exercised${missing.length === 0 ? '' : `; missing (all in reports/status-coverage.md): ${some}`}\n`,
    );
  };
}

/** `operationId status` of each answer that a document describes. */
function describedStatuses({ prefix, bundle }: (typeof BUNDLES)[number]): string[] {
  const { paths }: { paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, unknown> }>> } = JSON.parse(
    readFileSync(bundle, 'utf8'),
  );
  return Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId, responses }) =>
      operationId === undefined ? [] : Object.keys(responses ?? {}).map((status) => `${prefix}${operationId} ${status}`),
    ),
  );
}
