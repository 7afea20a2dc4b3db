import type { Check } from './check.ts';
import { CHECKS } from './checks.ts';

/** The page of the documentation about a check, in Markdown: all of it is the check's own text. */
export function checkPage({ id, claim, judges, client, defect, needs, undescribed }: Check): string {
  const requests =
    needs === undefined
      ? 'No requests of its own: it looks at every response.'
      : `Looks at the responses to requests of these kinds: ${needs.map((need) => `\`${need}\``).join(', ')}.`;
  const statuses =
    undescribed === undefined
      ? ''
      : undescribed === 'only'
        ? ' Only at statuses that are not described.'
        : ' Also at statuses that are not described.';
  return `# ${id}

${claim}

## How it judges

${judges}

${requests}${statuses}

## What a finding means for users of the generated client

${client}

## The defect that proves it

${defect.description} The selftest (\`npx pnpm@12 contract selftest\`) starts ${defect.alterForm === undefined ? 'a service with this defect' : 'a client with this defect, behind the proxy,'} and is red unless this check finds it; without the defect nothing may be found.
`;
}

/** The list of all checks, in Markdown. */
export function checkIndex(): string {
  return `# Checks

Generated from the checks themselves: \`pnpm exec vitest run -u --config .config/vitest.config.ts packages/contract/src/check-page.test.ts\`.

| check | claim |
| --- | --- |
${CHECKS.map(({ id, claim }) => `| [${id}](${id}.md) | ${claim} |`).join('\n')}
`;
}
