import { CHECKS } from '@reseller/contract/engine';
import type { Check } from '@reseller/contract/engine';

import { SELFTEST_DEFECTS } from './selftest/defects.ts';

/** The documentation page of a check in Markdown, made from the texts of the check. */
export function checkPage({ id, claim, example, judges, client, needs, undescribed }: Check): string {
  const requests =
    needs === undefined
      ? 'It judges every response and sends no requests of its own.'
      : `It judges responses to requests with the purpose ${needs.map((need) => `\`${need}\``).join(', ')}.`;
  const statuses =
    undescribed === undefined
      ? ''
      : undescribed === 'only'
        ? ' It judges only statuses that the document does not describe.'
        : ' It also judges statuses that the document does not describe.';
  const defects = SELFTEST_DEFECTS.filter(({ check }) => check === id);
  const isOfClient = defects.some(({ alterForm, undescribedPath }) => alterForm !== undefined || undescribedPath !== undefined);
  return `# ${id}

${claim}

For example: ${example}

## How it decides

${judges}

${requests}${statuses}

## What a finding means for users of the generated client

${client}

## What the selftest proves

${defects.map(({ description }) => `- ${description}`).join('\n')}

The selftest runs against ${isOfClient ? 'a client' : 'a service'} with ${defects.length === 1 ? 'this defect' : 'each of these defects'} and fails unless this check finds it. Without the defect, the run must have no findings.
`;
}

/** The list of all checks, in Markdown. */
export function checkIndex(): string {
  return `# Checks

Generated from the texts of the checks: \`pnpm exec vitest run -u --config .config/vitest.config.ts apps/contract-tests/test/check-page.test.ts\`.

| check | claim |
| --- | --- |
${CHECKS.map(({ id, claim }) => `| [${id}](${id}.md) | ${claim} |`).join('\n')}
`;
}
