import { createHash } from 'node:crypto';

import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { valueAt } from '../document/pointer.ts';
import { curlOf } from '../exchange/curl.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Failures } from './failures.ts';
import { VERDICTS } from './finding.ts';
import type { Finding, Remark, Sample, Touched } from './finding.ts';
import type { Judged } from './judge.ts';
import { limitToOperation } from './limit-to-operation.ts';
import type { Proposal } from './proposal.ts';
import { replayOf } from './replay.ts';
import type { Story } from './replay.ts';

const MAX_SAMPLES = 3;

/** Groups remarks of the same check, place in the document and rule into findings. The most severe come first. */
export function groupFindings(story: Story, judged: readonly Judged[], failures: Failures): readonly Finding[] {
  const { document } = story;
  const groups = new Map<string, Judged[]>();
  for (const one of judged) {
    const { check, remark } = one;
    const key = [check.id, remark.verdict, causeOf(document, remark), remark.rule].join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  const findings = [...groups.values()].flatMap((group) =>
    failures.attempt(`a finding of ${group[0]?.check.id}`, () => findingOfGroup(story, group), []),
  );
  return findings.toSorted((one, other) => urgencyOf(one) - urgencyOf(other));
}

/** Hashes of inlined schemas by their pointers. */
const hashes = new WeakMap<OpenApiDocument, Map<string, string>>();

/** The pointer of the schema that a body inlines, and the rest of the pointer. Undefined for a place outside of such a schema. */
function inlinedSchemaAt(at: string): readonly [root: string, rest: string] | undefined {
  const tokens = at.split('/');
  const end = tokens.findIndex((token, index) => token === 'content' && tokens[index + 2] === 'schema') + 3;
  if (tokens[1] !== 'paths' || end < 3 || end === tokens.length) return undefined;
  return [tokens.slice(0, end).join('/'), `/${tokens.slice(end).join('/')}`];
}

/** Leaves out the examples and texts of a schema, which frameworks write for each response. */
function withoutTexts(name: string, value: unknown): unknown {
  const isText = (name === 'description' || name === 'title') && typeof value === 'string';
  return isText || name === 'example' || name === 'examples' ? undefined : value;
}

/** The cause of a remark: its place in the document. Places in identical inlined schemas, as frameworks write them, are one cause. */
function causeOf(document: OpenApiDocument, { cause, at }: Pick<Remark, 'cause' | 'at'>): string {
  const [root, rest] = inlinedSchemaAt(at) ?? [];
  if (cause !== undefined || root === undefined || rest === undefined) return cause ?? at;
  const known = hashes.get(document) ?? new Map<string, string>();
  hashes.set(document, known);
  const hash =
    known.get(root) ??
    createHash('sha256')
      .update(JSON.stringify(valueAt(document, root) ?? root, withoutTexts))
      .digest('hex');
  known.set(root, hash);
  return `${hash}${rest}`;
}

function urgencyOf({ verdict, isUrgent }: Finding): number {
  return 2 * VERDICTS.indexOf(verdict) + (isUrgent ? 0 : 1);
}

function findingOfGroup(story: Story, group: readonly Judged[]): readonly Finding[] {
  const { document } = story;
  const [first] = group;
  if (first === undefined) return [];
  const { check, exchange, remark } = first;
  const { verdict, message, expected, observed, at, rule } = remark;
  const cause = causeOf(document, remark);
  return [
    {
      id: `f-${createHash('sha256').update([check.id, cause, rule].join('\n')).digest('hex').slice(0, 12)}`,
      check: check.id,
      verdict,
      isUrgent: group.some((one) => one.remark.isUrgent === true),
      about: check.about ?? 'service',
      message,
      expected,
      observed,
      at,
      touches: touchesOf(document, group),
      samples: samplesOf(group),
      curl: curlOf(document, exchange),
      client: `${typeName(at)}${check.client}`,
      proposals: proposalsOf(document, group),
      replay: replayOf(story, group),
    },
  ];
}

/** Removes duplicate changes, and limits a change to the operation that showed it. */
function proposalsOf(document: OpenApiDocument, group: readonly Judged[]): readonly Proposal[] {
  const showing = new Map<string, { readonly proposal: Proposal; readonly exchanges: Exchange[] }>();
  for (const { exchange, remark } of group) {
    if (remark.proposal === undefined) continue;
    const key = JSON.stringify(remark.proposal);
    const known = showing.get(key) ?? { proposal: remark.proposal, exchanges: [] };
    known.exchanges.push(exchange);
    showing.set(key, known);
  }
  return [...showing.values()].flatMap(({ proposal, exchanges }) =>
    withCompanion(document, limitToOperation(document, proposal, exchanges)),
  );
}

/** Removes `x-expected` together with the pattern that it explains (openapi/EXTENSIONS.md). */
function withCompanion(document: OpenApiDocument, proposal: Proposal): readonly Proposal[] {
  if (proposal.kind !== 'remove-entry' || proposal.key !== 'pattern') return [proposal];
  const schema = valueAt(document, proposal.at);
  const isExplained = isObject(schema) && schema['x-expected'] !== undefined;
  return isExplained ? [proposal, { kind: 'remove-entry', at: proposal.at, key: 'x-expected' }] : [proposal];
}

/** The type of the generated client for a part of the document. It has the name of its schema. */
function typeName(at: string): string {
  const schema = /^\/components\/schemas\/([^/]+)/.exec(at)?.[1];
  if (schema === undefined) return '';
  const [, ...properties] = at.split('/properties/');
  const property = properties.at(-1)?.split('/')[0];
  return `Type ${schema}${property === undefined ? '' : `['${property}']`}. `;
}

function touchesOf(document: OpenApiDocument, group: readonly Judged[]): readonly Touched[] {
  const touches = new Map<string, Touched>();
  for (const { exchange } of group) {
    const key = `${exchange.operation.id} ${exchange.status}`;
    const known = touches.get(key);
    const { operation, status } = exchange;
    touches.set(
      key,
      known === undefined
        ? { operation: operation.id, status, times: 1, curl: curlOf(document, exchange) }
        : { ...known, times: known.times + 1 },
    );
  }
  return [...touches.values()];
}

function samplesOf(group: readonly Judged[]): readonly Sample[] {
  const samples = new Map<string, Sample>();
  for (const { exchange, remark } of group) {
    const sample = { operation: exchange.operation.id, status: exchange.status, pointer: remark.pointer, observed: remark.observed };
    const key = JSON.stringify(sample);
    if (samples.size < MAX_SAMPLES && !samples.has(key)) samples.set(key, sample);
  }
  return [...samples.values()];
}
