/** One Markdown page for an operation: for the search, for language models and for readers without JavaScript. */
import type { Body, OpenApi, PlacedOperation } from './document.ts';
import { exampleOf, headerOf, parameterOf, responseOf, schemaOf } from './document.ts';
import { factsOf } from './facts.ts';
import type { Fact } from './facts.ts';
import { fieldList, fieldTable, withMarks } from './field-list.ts';
import { fieldsOf } from './fields.ts';
import type { Field } from './fields.ts';
import { attribute, escapeVue, table } from './markdown.ts';
import { inlineMarks, limitMarks, markAt, MARKS, withoutRemarks } from './provenance.ts';
import type { Mark } from './provenance.ts';
import { isOfExtension } from './references.ts';
import type { Reference } from './references.ts';
import { sandboxUrl } from './samples.ts';
import type { Samples } from './samples.ts';

/** The path from the page of an operation to the root of the site. */
const ROOT = '../../';

/** A part of a page: Markdown, or fields, which the plain Markdown shows as a table and the site as a list. */
type Block = string | readonly Field[];

export interface OperationPage {
  /** Plain Markdown. */
  readonly markdown: string;
  /** The Markdown for VitePress, with front matter and the form that runs the request. */
  readonly page: string;
}

export function operationPage(document: OpenApi, placed: PlacedOperation, reference: Reference, samples: Samples): OperationPage {
  const { id, method, path, operation } = placed;
  const mark = reference.followsSpecification ? markAt(ROOT) : () => '';
  const provenance = operation['x-provenance'] ?? 'shown';
  const facts = factsOf(operation, method, reference.followsSpecification);
  const title = operation.summary;
  const isExtension = isOfExtension(operation);
  const place = [`\`${method} ${path}\``, `operation \`${id}\``];
  if (reference.followsSpecification) place.push([mark(provenance), isExtension ? mark('extension') : ''].join(' ').trim());
  const opening = [`# ${title}`, place.join(' · ')];
  const head = [text(operation.description, mark), `[Open in the reference](${ROOT}${reference.page}#/${redocPath(placed)})`];
  const languages = [
    ['curl', 'sh', samples.curl],
    ['TypeScript', 'ts', samples.typescript],
    ['Python', 'python', samples.python],
    ['PHP', 'php', samples.php],
    ['Go', 'go', samples.go],
  ] as const;
  const sections = languages.flatMap(([name, language, code]) => [`### ${name}`, fence(language, code)]);
  const tabs = languages.map(([name, language, code]) => fence(`${language} [${name}]`, code));
  const body: Block[] = [
    ...parameterSection(document, placed, mark),
    ...requestSection(document, placed, mark),
    ...responseSections(document, placed, reference, mark),
    ...(reference.followsSpecification ? [legend(mark)] : []),
  ];
  const runner = ['## Try it', `<RunOperation :request='${attribute(runnable(document, placed, reference, samples))}' />`];
  const description = `${title}: ${method} ${path}`;
  const matter = [
    '---',
    `title: ${JSON.stringify(title)}`,
    `description: ${JSON.stringify(description)}`,
    `operation: ${id}`,
    'editLink: false',
    '---',
  ];
  return {
    markdown: `${join([...opening, facts.map(({ words }) => `**${words}**`).join(' · '), ...head, '## Samples', ...sections, ...body.map((block) => markdownOf(block, mark))])}\n`,
    page: `${join([matter.join('\n'), ...opening.map(escapeVue), badges(facts), ...head.map(escapeVue), ...runner, '## Samples', ['::: code-group', ...tabs, ':::'].join('\n'), ...body.map((block) => pageOf(block, mark))])}\n`,
  };
}

/** The request that the form of the page sends (RunOperation.vue). */
function runnable(document: OpenApi, { method, path, operation }: PlacedOperation, { api }: Reference, { request }: Samples): object {
  const parameters = (operation.parameters ?? []).map((part) => parameterOf(document, part));
  const isJson = request.mediaType === 'application/json';
  const [media] = Object.values(operation.requestBody?.content ?? {});
  const fields =
    media?.schema === undefined || isJson
      ? []
      : fieldsOf(document, media.schema, { inherited: 'shown', mark: () => '', isWithinExtension: isOfExtension(operation) });
  return {
    api,
    method,
    path,
    parameters: request.parameters,
    form: isJson ? {} : (request.body ?? {}),
    optional: fields.filter(({ name }) => request.body?.[name] === undefined).map(({ name, isExtension }) => ({ name, isExtension })),
    query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    ...(isJson ? { json: request.body ?? {} } : {}),
    takesIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    isBillable: operation['x-billable'] === true,
    sandbox: sandboxUrl(document),
  };
}

const BADGE_TYPES: Readonly<Record<Fact['color'], string>> = { red: 'danger', orange: 'warning', blue: 'info' };

/** The facts as badges of VitePress. */
function badges(facts: readonly Fact[]): string {
  return facts.map(({ words, color }) => `<Badge type="${BADGE_TYPES[color]}">${words}</Badge>`).join(' ');
}

/** The address of an operation within its Redoc page. */
export function redocPath({ id, operation }: PlacedOperation): string {
  function slug(name: string): string {
    return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  }
  return `${slug(operation.tags[0] ?? '')}/${slug(id)}`;
}

function parameterSection(document: OpenApi, { operation }: PlacedOperation, mark: Mark): Block[] {
  const fields = (operation.parameters ?? [])
    .map((part) => parameterOf(document, part))
    .map(({ name, in: place, required = false, description = '', schema, 'x-provenance': provenance = 'shown' }) => {
      const type = `${[schemaOf(document, schema).type ?? 'string'].flat().join(' or ')} in the ${place}`;
      return { name, path: name, type, isRequired: required, meaning: text(description, mark), provenance, isExtension: false, fields: [] };
    });
  return fields.length === 0 ? [] : ['## Parameters', fields];
}

function requestSection(document: OpenApi, { operation }: PlacedOperation, mark: Mark): Block[] {
  const { requestBody } = operation;
  if (requestBody === undefined) return [];
  const [type = '', media] = Object.entries(requestBody.content ?? {})[0] ?? [];
  return [
    '## Request body',
    `\`${type}\`. ${text(requestBody.description ?? '', mark)}`,
    bodyFields(document, requestBody, mark, isOfExtension(operation)),
    ...Object.values(media?.examples ?? {}).flatMap((part) => {
      const { summary = 'Example', value } = exampleOf(document, part);
      return [`### Example: ${summary}`, isForm(type) ? fence('text', formOf(value)) : fence('json', JSON.stringify(value, null, 2))];
    }),
  ];
}

function isForm(mediaType: string): boolean {
  return mediaType === 'application/x-www-form-urlencoded';
}

/** The body as the request carries it. */
function formOf(value: unknown): string {
  return new URLSearchParams(Object.entries(Object(value)).map(([name, one]) => [name, String(one)])).toString();
}

function responseSections(document: OpenApi, { operation }: PlacedOperation, reference: Reference, mark: Mark): Block[] {
  const isExtension = isOfExtension(operation);
  const all = Object.entries(operation.responses).map(([status, part]) => [status, responseOf(document, part)] as const);
  const successes = all.filter(([status]) => status.startsWith('2'));
  const failures = all.filter(([status]) => !status.startsWith('2'));
  return [
    ...successes.flatMap(([status, response]) => {
      const [media] = Object.values(response.content ?? {});
      const [example] = Object.values(media?.examples ?? {});
      const value = example === undefined ? undefined : exampleOf(document, example).value;
      return [
        `## Response ${status}`,
        described(response, mark, isExtension),
        bodyFields(document, response, mark, isExtension),
        ...(value === undefined ? [] : ['### Example response', fence('json', JSON.stringify(value, null, 2))]),
      ];
    }),
    '## Failures',
    table(
      ['status', 'when'],
      failures.map(([status, response]) => [status, described(response, mark, isExtension)]),
    ),
    ...headerSection(document, all, mark),
    `The [error catalogue](${errorCatalogueOf(reference)}) lists the types of all failures, with their causes and remedies.`,
  ];
}

/** Which headers the responses have, and in which statuses. */
function headerSection(document: OpenApi, all: readonly (readonly [status: string, response: Body])[], mark: Mark): Block[] {
  const found = all.flatMap(([status, { headers = {} }]) =>
    Object.entries(headers).map(([name, part]) => ({ name, status, header: headerOf(document, part) })),
  );
  const rows = [...Map.groupBy(found, ({ name }) => name)].map(([name, uses]) => [
    `\`${name}\``,
    uses.length === all.length ? 'each' : uses.map(({ status }) => status).join(', '),
    uses[0] === undefined ? '' : described(uses[0].header, mark),
  ]);
  return rows.length === 0 ? [] : ['## Response headers', table(['header', 'status', 'meaning'], rows)];
}

/** The description of a response or a header, with its badges at its end. */
function described(part: Pick<Body, 'description' | 'x-provenance' | 'x-origin'>, mark: Mark, isWithinExtension = false): string {
  const { description = '', 'x-provenance': provenance = 'shown' } = part;
  return withMarks(text(description, mark), { provenance, isExtension: !isWithinExtension && isOfExtension(part) }, mark);
}

function bodyFields(document: OpenApi, body: Body, mark: Mark, isWithinExtension: boolean): readonly Field[] {
  const [media] = Object.values(body.content ?? {});
  if (media?.schema === undefined) return [];
  return fieldsOf(document, media.schema, { inherited: body['x-provenance'] ?? 'shown', mark, isWithinExtension });
}

function markdownOf(block: Block, mark: Mark): string {
  return typeof block === 'string' ? block : fieldTable(block, mark);
}

function pageOf(block: Block, mark: Mark): string {
  return typeof block === 'string' ? escapeVue(block) : fieldList(block, mark);
}

/** Each API has its own catalogue, next to the folder of the operations. */
function errorCatalogueOf({ api }: Reference): string {
  return api === 'operator' ? '../errors' : `${ROOT}errors`;
}

function legend(mark: Mark): string {
  const states = ['shown', 'inferred', 'not-shown', 'extension'] as const;
  return ['## Marks', ...states.map((state) => `- ${mark(state)} ${MARKS[state].meaning}`)].join('\n');
}

function text(description: string, mark: Mark): string {
  return [inlineMarks(withoutRemarks(description), mark), limitMarks(description, mark)].filter((part) => part !== '').join(' ');
}

function join(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n');
}

function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}
