import type { Check } from './check.ts';
import { CHECKS } from './checks.ts';

/** The documentation page of a check in Markdown, made from the texts of the check. */
export function checkPage({ id, claim, judges, client, defect, needs, undescribed }: Check): string {
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
  return `# ${id}

${claim}

## How it decides

${judges}

${requests}${statuses}

## What a finding means for users of the generated client

${client}

## Its defect in the selftest

${defect.description} The selftest (\`npx pnpm@12 contract selftest\`) runs against ${defect.alterForm === undefined ? 'a service' : 'a client behind the proxy'} with this defect and fails unless this check finds it. Without the defect, the run must have no findings.
`;
}

/** The list of all checks, in Markdown. */
export function checkIndex(): string {
  return `# Checks

Generated from the texts of the checks: \`pnpm exec vitest run -u --config .config/vitest.config.ts packages/contract/src/judge/check-page.test.ts\`.

| check | claim |
| --- | --- |
${CHECKS.map(({ id, claim }) => `| [${id}](${id}.md) | ${claim} |`).join('\n')}
`;
}
