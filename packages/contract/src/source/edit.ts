import { dirname, relative } from 'node:path';

import { isMap, isScalar, isSeq, stringify } from 'yaml';
import type { Node, Pair, YAMLMap, YAMLSeq } from 'yaml';

import { isObject } from '../document/json.ts';
import { joinPointer } from '../document/pointer.ts';
import type { Proposal } from '../judge/proposal.ts';
import type { SourceFile, SourceMap, SourceNode } from './source-map.ts';

/** A replacement of a part of a file. */
export interface Splice {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text edit for a proposal. It keeps comments and layout.
 * @returns undefined when the sources do not have the place, or already contain the change
 */
export function spliceFor(sources: SourceMap, proposal: Proposal): Splice | undefined {
  const node = sources.locate(proposal.at);
  const file = sources.fileOf(node.path);
  if (file === undefined) return undefined;
  const at = file.document.getIn(node.keys, true);
  switch (proposal.kind) {
    case 'add-entry':
      return addEntry(file, node, { key: proposal.key, value: referring(sources, file, proposal.value) }) ?? addOccasion(sources, proposal);
    case 'remove-entry':
      return node.missing.length === 0 && isMap(at) ? removeEntry(file, at, proposal.key) : undefined;
    case 'add-item':
      return node.missing.length === 0 && isSeq(at) ? addItem(file, at, referring(sources, file, proposal.value)) : undefined;
    case 'remove-item':
      return node.missing.length === 0 && isSeq(at) ? removeItem(file, at, proposal.value) : undefined;
    case 'rename-key':
      return node.missing.length === 0 && isMap(at) ? renameKey(file, at, proposal) : undefined;
    case 'own-response':
      // The response is one that a preprocessor adds.
      if (node.missing.length === 1)
        return addEntry(file, { ...node, missing: [] }, { key: node.missing[0] ?? '', value: referring(sources, file, proposal.value) });
      return isMap(at) && at.has('$ref')
        ? replaceMap(file, at, referring(sources, file, proposal.value))
        : spliceFor(sources, proposal.change);
    case 'add-alternative':
      return node.missing.length === 0 && isNode(at) ? addAlternative(file, at, referring(sources, file, proposal.value)) : undefined;
    case 'allow-type':
      return node.missing.length === 0 ? allowType(file, at, proposal.type) : undefined;
    default:
      return undefined;
  }
}

/** Adds an occasion to a response that another finding has already added. */
function addOccasion(sources: SourceMap, { at, key, value }: Extract<Proposal, { readonly kind: 'add-entry' }>): Splice | undefined {
  if (!isObject(value)) return undefined;
  for (const [occasion, known] of Object.entries(value)) {
    if (!occasion.startsWith('x-for-') || known !== true) continue;
    const added = spliceFor(sources, { kind: 'add-entry', at: joinPointer(at, key), key: occasion, value: known });
    if (added !== undefined) return added;
  }
  return undefined;
}

/** Replaces references to components of the bundle by references to their files. */
function referring(sources: SourceMap, from: SourceFile, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => referring(sources, from, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => {
      if (key !== '$ref' || typeof child !== 'string' || !child.startsWith('#/')) return [key, referring(sources, from, child)];
      const { path, keys } = sources.locate(child.slice(1));
      const fragment = keys.length === 0 ? '' : `#${joinPointer('', ...keys)}`;
      return [
        key,
        path === from.path ? `#${joinPointer('', ...keys)}` : `${relative(dirname(from.path), path).replaceAll('\\', '/')}${fragment}`,
      ];
    }),
  );
}

/** Applies splices to a text. Skips those that overlap. Joins once, because a text can be long and have many splices. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let limit = text.length;
  for (const { start, end, text: inserted } of splices.toSorted((one, other) => other.start - one.start)) {
    if (end > limit) continue;
    parts.push(text.slice(end, limit), inserted);
    limit = start;
  }
  return [...parts, text.slice(0, limit)].toReversed().join('');
}

/** Adds an entry to a map, and its missing parents. */
function addEntry(file: SourceFile, node: SourceNode, entry: { readonly key: string; readonly value: unknown }): Splice | undefined {
  const map = file.document.getIn(node.keys, true);
  const [first, ...others] = node.missing;
  const inner = [...others].reduceRight<unknown>((value, key) => ({ [key]: value }), { [entry.key]: entry.value });
  const key = first ?? entry.key;
  const value = first === undefined ? entry.value : inner;
  if (!isMap(map) || map.has(key) || map.has(Number(key))) return undefined;
  if (map.flow === true) {
    if (!map.range) return undefined;
    const isEmpty = map.items.length === 0;
    const before = file.text.lastIndexOf('}', map.range[1]);
    const end = file.text.slice(0, before).trimEnd().length;
    return splice(file, end, end, `${isEmpty ? '' : ', '}${flow(file, key)}: ${flow(file, value)}`);
  }
  const position = endOfMap(file, map);
  const indent = columnOf(file, map);
  if (position === undefined || indent === undefined) return undefined;
  return splice(file, position, position, `\n${indented(block({ [key]: value }), indent)}`);
}

/** Removes an entry. When `pattern` is already gone, removes its explanation `x-expected`. */
function removeEntry(file: SourceFile, map: YAMLMap, key: string): Splice | undefined {
  return removePair(file, map, key) ?? (key === 'pattern' ? removePair(file, map, 'x-expected') : undefined);
}

function removePair(file: SourceFile, map: YAMLMap, key: string): Splice | undefined {
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
  const start = keyRange(pair)?.[0];
  if (pair === undefined || start === undefined) return undefined;
  if (map.flow === true) return removeFlowPair(file, map, pair);
  // A block map cannot be empty, so `{}` replaces the last entry.
  if (map.items.length === 1) return map.range ? splice(file, start, lastOf(file, pair) ?? map.range[1], '{}') : undefined;
  const end = endOfPair(file, pair);
  if (end === undefined) return undefined;
  const lineStart = file.text.lastIndexOf('\n', start - 1) + 1;
  // The first entry of a map in a list is on the line of the dash.
  const next = keyRange(map.items[map.items.indexOf(pair) + 1])?.[0];
  if (next !== undefined && file.text.slice(lineStart, start).trim() !== '') return splice(file, start, next, '');
  return splice(file, lineStart, Math.min(end + 1, file.text.length), '');
}

/** Removes an entry of a flow map, with its comma. */
function removeFlowPair(file: SourceFile, map: YAMLMap, pair: Pair): Splice | undefined {
  const index = map.items.indexOf(pair);
  const [start, end] = [keyRange(pair)?.[0], lastOf(file, pair)];
  const next = keyRange(map.items[index + 1])?.[0];
  if (start === undefined || end === undefined) return undefined;
  if (next !== undefined) return splice(file, start, next, '');
  const before = map.items[index - 1];
  return splice(file, before === undefined ? start : (lastOf(file, before) ?? start), end, '');
}

/** The end of an entry, without trailing space and comments. */
function lastOf(file: SourceFile, { key, value }: Pair): number | undefined {
  const node = isNode(value) ? value : key;
  return isNode(node) && node.range ? file.text.slice(0, node.range[1]).trimEnd().length : undefined;
}

function renameKey(file: SourceFile, map: YAMLMap, { key, to }: { readonly key: string; readonly to: string }): Splice | undefined {
  const range = keyRange(map.items.find((item) => isScalar(item.key) && item.key.value === key));
  return range === undefined || map.has(to) ? undefined : splice(file, range[0], range[1], flow(file, to));
}

function replaceMap(file: SourceFile, map: YAMLMap, value: unknown): Splice | undefined {
  if (!map.range) return undefined;
  const [start] = map.range;
  const end = file.text.slice(0, map.range[1]).trimEnd().length;
  const column = file.lines.linePos(start).col - 1;
  return splice(file, start, end, map.flow === true ? flow(file, value) : indented(block(value), column).trimStart());
}

/** Makes the existing schema the first alternative of two. */
function addAlternative(file: SourceFile, schema: Node, value: unknown): Splice | undefined {
  if (!schema.range) return undefined;
  const known = isMap(schema) ? schema.get('anyOf') : undefined;
  if (isSeq(known)) return addItem(file, known, value);
  const [start] = schema.range;
  const end = file.text.slice(0, schema.range[1]).trimEnd().length;
  const written = file.text.slice(start, end);
  if (!isMap(schema) || schema.flow === true)
    return splice(file, start, end, `{ ${flow(file, 'anyOf')}: [${written}, ${flow(file, value)}] }`);
  const column = file.lines.linePos(start).col - 1;
  const [pad, own] = [' '.repeat(column), written.replaceAll('\n', '\n    ')];
  return splice(file, start, end, `anyOf:\n${pad}  - ${own}\n${pad}  - ${indented(block(value), column + 4).trimStart()}`);
}

function addItem(file: SourceFile, list: YAMLSeq, value: unknown): Splice | undefined {
  if (!list.range || list.items.some((item) => JSON.stringify(isNode(item) ? item.toJSON() : item) === JSON.stringify(value)))
    return undefined;
  if (list.flow === true) {
    const end = file.text.slice(0, file.text.lastIndexOf(']', list.range[1])).trimEnd().length;
    return splice(file, end, end, `${list.items.length === 0 ? '' : ', '}${flow(file, value)}`);
  }
  const last = list.items.at(-1);
  if (!isNode(last) || !last.range) return undefined;
  // All dashes of a list are in the same column.
  const indent = ' '.repeat(file.lines.linePos(list.range[0]).col - 1);
  const position = endOfLine(file.text, file.text.slice(0, last.range[1]).trimEnd().length);
  return splice(
    file,
    position,
    position,
    `\n${indent}- ${isObject(value) ? indented(block(value), indent.length + 2).trimStart() : flow(file, value)}`,
  );
}

function allowType(file: SourceFile, at: unknown, type: string): Splice | undefined {
  if (isSeq(at)) return addItem(file, at, type);
  if (!isScalar(at) || !at.range || at.value === type) return undefined;
  return splice(file, at.range[0], at.range[1], flow(file, [at.value, type]));
}

function removeItem(file: SourceFile, list: YAMLSeq, value: string): Splice | undefined {
  const index = list.items.findIndex((item) => isScalar(item) && item.value === value);
  const item = list.items[index];
  if (!isNode(item) || !item.range) return undefined;
  if (list.flow !== true && list.items.length === 1 && list.range)
    return splice(file, list.range[0], file.text.slice(0, item.range[1]).trimEnd().length, '[]');
  if (list.flow !== true) {
    const lineStart = file.text.lastIndexOf('\n', item.range[0]) + 1;
    return splice(file, lineStart, Math.min(endOfLine(file.text, item.range[1]) + 1, file.text.length), '');
  }
  const next = list.items[index + 1];
  if (isNode(next) && next.range) return splice(file, item.range[0], next.range[0], '');
  const before = list.items[index - 1];
  const start = isNode(before) && before.range ? before.range[1] : item.range[0];
  return splice(file, start, item.range[1], '');
}

function endOfMap(file: SourceFile, map: YAMLMap): number | undefined {
  return endOfPair(file, map.items.at(-1));
}

/** The end of the last line of an entry, including a comment. */
function endOfPair(file: SourceFile, pair: Pair | undefined): number | undefined {
  const value = pair?.value;
  const end = isNode(value) && value.range ? value.range[1] : keyRange(pair)?.[1];
  return end === undefined ? undefined : endOfLine(file.text, file.text.slice(0, end).trimEnd().length);
}

function endOfLine(text: string, position: number): number {
  const end = text.indexOf('\n', position);
  return end < 0 ? text.trimEnd().length : end;
}

function columnOf(file: SourceFile, map: YAMLMap): number | undefined {
  const start = keyRange(map.items[0])?.[0];
  return start === undefined ? undefined : file.lines.linePos(start).col - 1;
}

function keyRange(pair: Pair | undefined): readonly [number, number, number] | undefined {
  const key = pair?.key;
  return isScalar(key) && key.range ? key.range : undefined;
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value);
}

function splice({ path }: SourceFile, start: number, end: number, text: string): Splice {
  return { path, start, end, text };
}

function block(value: unknown): string {
  return stringify(value, { lineWidth: 0, singleQuote: true }).trimEnd();
}

/** A value in one line: in JSON if the file is JSON, else in YAML. */
function flow({ text }: SourceFile, value: unknown): string {
  if (/^\s*\{/.test(text)) return JSON.stringify(value);
  return stringify(value, { lineWidth: 0, singleQuote: true, collectionStyle: 'flow', flowCollectionPadding: false }).trimEnd();
}

function indented(text: string, columns: number): string {
  const indent = ' '.repeat(columns);
  return text
    .split('\n')
    .map((line) => (line === '' ? line : indent + line))
    .join('\n');
}
