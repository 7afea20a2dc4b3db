import type { Provenance } from '../lint/constraints.ts';
import { isFields, isText } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { FACT_KINDS, readFacts } from './facts.ts';
import type { Fact, FactKind } from './facts.ts';
import { statementsOfMarkdown } from './statements.ts';

const LABELS: Readonly<Record<FactKind, string>> = {
  operation: 'operations',
  parameter: 'parameters of operations',
  response: 'responses of operations',
  header: 'headers of responses',
  schema: 'schemas',
  field: 'fields',
  value: 'values of open enumerations',
  limit: 'limits of values',
  statement: 'statements in descriptions',
};
const WORDS: Readonly<Record<Provenance, string>> = { shown: 'shown', inferred: 'inferred', 'not-shown': 'not shown' };
const MAX_OPERATIONS = 4;

interface Row {
  readonly place: string;
  readonly fact: string;
  readonly provenance: Provenance;
}

/** NOT-SHOWN.md: the facts of a bundled document that the specification does not show, as Markdown. */
export function notShownTable(document: Fields): string {
  const all = readFacts(document);
  const facts = all.filter(({ provenance }) => provenance !== 'shown');
  const info = document['info'];
  const general = isFields(info) && isText(info['description']) ? statementsOfMarkdown(info['description']) : [];
  const operations = new Set(all.flatMap((fact) => [...fact.operations]));
  const owners = Map.groupBy(facts, ({ pointer }) => ownerOf(pointer));
  function sections(isWanted: (owner: string) => boolean): string[] {
    return [...owners].filter(([owner]) => isWanted(owner)).map(([owner, own]) => section(owner, own, operations.size));
  }
  return [
    '# What the specification does not show',
    'Generated from `openapi.yaml` by `npx -y pnpm@12 generate`; do not edit. [EXTENSIONS.md](../EXTENSIONS.md) explains `x-provenance` and `x-constraints`, the sources of this table.',
    'A part that several operations share is listed and counted once, in the first section that uses it. "Inferred" facts follow from shown facts; "not shown" facts are our choice. Lint refuses a limit without a provenance, so the list is complete.',
    counts(all, general),
    '## Operations',
    ...sections((owner) => !owner.startsWith('components ')),
    '## Schemas',
    ...sections((owner) => owner.startsWith('components schemas ')),
    '## Shared parameters and responses',
    ...sections((owner) => owner.startsWith('components ') && !owner.startsWith('components schemas ')),
    '## Statements about all operations',
    table(
      'section',
      general.map(({ heading, text, provenance }) => ({ place: heading || 'introduction', fact: text, provenance })),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function counts(all: readonly Fact[], general: readonly { readonly provenance: Provenance }[]): string {
  const rows = FACT_KINDS.map((kind) => {
    const own = [...all.filter((fact) => fact.kind === kind), ...(kind === 'statement' ? general : [])];
    const [shown, inferred, notShown] = (['shown', 'inferred', 'not-shown'] as const).map(
      (wanted) => own.filter(({ provenance }) => provenance === wanted).length,
    );
    // A sentence without a marker is shown, and shown sentences are not counted.
    return `| ${LABELS[kind]} | ${kind === 'statement' ? '' : shown} | ${inferred} | ${notShown} |`;
  });
  return ['| | shown | inferred | not shown |', '|---|---|---|---|', ...rows].join('\n');
}

function section(owner: string, facts: readonly Fact[], operationCount: number): string {
  const operations = [...new Set(facts.flatMap((fact) => [...fact.operations]))];
  const name = owner.split(' ').at(-1) ?? '';
  if (!owner.startsWith('components ')) return `### \`${owner}\`\n\n${table('place', rowsOf(facts))}`;
  const used =
    operations.length === operationCount
      ? 'all operations'
      : operations.length > MAX_OPERATIONS
        ? `${operations.length} operations`
        : operations.map((operation) => `\`${operation}\``).join(', ');
  return `### ${name}\n\nUsed by ${used}.\n\n${table('place', rowsOf(facts))}`;
}

/** Combines names, or the limits of one value, that have the same kind and provenance into one row. */
function rowsOf(facts: readonly Fact[]): Row[] {
  const groups = Map.groupBy(facts, ({ kind, pointer, text, provenance }) => {
    if (kind === 'statement') return `${pointer} ${text}`;
    return kind === 'limit' || kind === 'value' ? `${kind} ${pointer} ${provenance}` : `${kind} ${holderOf(kind, pointer)} ${provenance}`;
  });
  return [...groups.values()].flatMap((group): Row[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, pointer, provenance } = first;
    if (kind === 'statement') return [{ place: placeOf(pointer), fact: first.text, provenance }];
    if (kind === 'schema' || kind === 'operation') return [{ place: '', fact: `the whole ${kind}`, provenance }];
    const names = group.map(({ text }) => `\`${text}\``).join(', ');
    return [{ place: placeOf(holderOf(kind, pointer)), fact: `${kind}${group.length === 1 ? '' : 's'} ${names}`, provenance }];
  });
}

/** The place of the fact: limits and values are at their schema, all other facts are in a map or a list. */
function holderOf(kind: FactKind, pointer: string): string {
  return kind === 'limit' || kind === 'value' ? pointer : pointer.split('/').slice(0, -2).join('/');
}

function table(first: string, rows: readonly Row[]): string {
  if (rows.length === 0) return 'None.';
  return [
    `| ${first} | fact | provenance |`,
    '|---|---|---|',
    ...rows.map(({ place, fact, provenance }) => `| ${place} | ${fact.replaceAll('|', String.raw`\|`)} | ${WORDS[provenance]} |`),
  ].join('\n');
}

function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The operation or component that contains a pointer. */
function ownerOf(pointer: string): string {
  const [first, second = '', third = ''] = tokensOf(pointer);
  return first === 'components' ? `components ${second} ${third}` : `${third.toUpperCase()} ${second}`;
}

/** The rest of a pointer within its operation or component in readable form: `data.list[].name`. */
function placeOf(pointer: string): string {
  const tokens = tokensOf(pointer).slice(3);
  let text = '';
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] ?? '';
    switch (token) {
      case 'properties':
        text += `${text === '' || text.endsWith(' ') ? '' : '.'}${tokens[(index += 1)]}`;
        break;
      case 'items':
        text += '[]';
        break;
      case 'additionalProperties':
        text += text === '' ? '*' : '.*';
        break;
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
      case 'content':
        index += 1;
        break;
      case 'schema':
        break;
      case 'responses':
        text += `${tokens[(index += 1)] ?? ''} `;
        break;
      default:
        text += `${token} `;
    }
  }
  return text.trim() === '' ? '' : `\`${text.trim()}\``;
}
