import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve as resolvePath } from 'node:path';

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';

import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import { joinPointer, pointerTokens, valueAt } from '../document/pointer.ts';

/** A place in the source files. */
export interface SourcePlace {
  /** Path of the file, relative to the base folder. */
  readonly file: string;
  /** Starts at 1. */
  readonly line: number;
  readonly column: number;
}

/** The place in a file for a pointer of the bundle. */
export interface SourceNode extends SourcePlace {
  readonly path: string;
  /** Keys from the root of the file. */
  readonly keys: readonly (string | number)[];
  /** The rest of the pointer, which the file does not have. */
  readonly missing: readonly string[];
}

/** A source file, parsed so that it can be edited in place. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/** Maps pointers of a bundle to its source files. */
export interface SourceMap {
  locate(pointer: string): SourceNode;
  fileOf(path: string): SourceFile | undefined;
}

interface Anchor {
  readonly file: SourceFile;
  readonly keys: readonly (string | number)[];
}

/**
 * Maps a bundle to its sources by walking through both in parallel. If the bundle has a local reference where the source refers to a
 * file, the component of the bundle is that file.
 * @param root path of the root file
 * @param base folder to which file names are relative
 */
export async function mapSources(bundle: OpenApiDocument, root: string, base: string): Promise<SourceMap> {
  const files = new Map<string, SourceFile>();
  const anchors = new Map<string, Anchor>();
  async function readSource(path: string): Promise<SourceFile | undefined> {
    const known = files.get(path);
    if (known !== undefined) return known;
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const file = { path, text, ...parseText(text) };
    files.set(path, file);
    return file;
  }
  async function walk(pointer: string, value: unknown, at: Anchor): Promise<void> {
    const here = await follow(at, readSource);
    const target = isObject(value) ? member(value, '$ref') : undefined;
    if (typeof target === 'string' && target.startsWith('#/')) {
      const component = decodeURIComponent(target.slice(1));
      if (here !== undefined && here !== at && !anchors.has(component)) {
        anchors.set(component, here);
        await walk(component, valueAt(bundle, component), here);
      }
      return;
    }
    if (here === undefined) return;
    // Inlined from another file, such as a path item.
    if (here !== at && pointer !== '') anchors.set(pointer, here);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value))
      await walk(joinPointer(pointer, key), child, { file: here.file, keys: [...here.keys, Array.isArray(value) ? Number(key) : key] });
  }
  /** A reference that only the bundle has, such as one that a preprocessor of Redocly wrote, leads to the component of its name. */
  async function walkUnreached(): Promise<void> {
    for (const [kind, components] of Object.entries(Object(valueAt(bundle, '/components')))) {
      for (const name of Object.keys(Object(components))) {
        const keys = ['components', kind, name];
        const pointer = joinPointer('', ...keys);
        const file = anchors.has(pointer) ? undefined : [...files.values()].find(({ document }) => document.hasIn(keys));
        if (file === undefined) continue;
        anchors.set(pointer, { file, keys });
        await walk(pointer, valueAt(bundle, pointer), { file, keys });
      }
    }
  }
  const rootFile = await readSource(root);
  if (rootFile === undefined) throw new Error(`The source ${root} cannot be read.`);
  anchors.set('', { file: rootFile, keys: [] });
  if (OUTSIDE_REFERENCE.test(rootFile.text)) {
    await walk('', bundle, { file: rootFile, keys: [] });
    await walkUnreached();
  }
  return {
    fileOf: (path) => files.get(path),
    locate: (pointer) => locate(pointer, anchors, base),
  };
}

/** A reference to another file. Without one, the pointers of a bundle are those of its only source. */
const OUTSIDE_REFERENCE = /\$ref["']?\s*:\s*["']?[^#"'\s]/;

type ParsedText = Pick<SourceFile, 'document' | 'lines'>;

/** A cache by text, because a process maps mostly unchanged sources several times, and parsing takes most of the time of a map. */
const parsedTexts = new Map<string, ParsedText>();
const MAX_PARSED_TEXTS = 2_000;

function parseText(text: string): ParsedText {
  const known = parsedTexts.get(text);
  if (known !== undefined) return known;
  const lines = new LineCounter();
  const parsed = { document: parseDocument(text, { lineCounter: lines }), lines };
  if (parsedTexts.size === MAX_PARSED_TEXTS) parsedTexts.clear();
  parsedTexts.set(text, parsed);
  return parsed;
}

/** Follows a reference to another file. Returns the same anchor when there is none. */
async function follow(at: Anchor, read: (path: string) => Promise<SourceFile | undefined>): Promise<Anchor | undefined> {
  const node = at.file.document.getIn(at.keys, true);
  if (node === undefined) return undefined;
  const reference = isMap(node) ? node.get('$ref') : undefined;
  if (typeof reference !== 'string') return at;
  const [path = '', fragment = ''] = reference.split('#', 2);
  const keys = pointerTokens(decodeURIComponent(fragment));
  if (path === '') return { file: at.file, keys };
  const file = await read(resolvePath(dirname(at.file.path), path));
  return file === undefined ? undefined : follow({ file, keys }, read);
}

function locate(pointer: string, anchors: ReadonlyMap<string, Anchor>, base: string): SourceNode {
  const tokens = [...pointerTokens(pointer)];
  const rest: string[] = [];
  for (;;) {
    const anchor = anchors.get(joinPointer('', ...tokens));
    if (anchor !== undefined) return descend(anchor, rest, base);
    const last = tokens.pop();
    if (last === undefined) throw new Error('The map has no root.');
    rest.unshift(last);
  }
}

function descend({ file, keys }: Anchor, rest: readonly string[], base: string): SourceNode {
  const path: (string | number)[] = [...keys];
  let index = 0;
  for (; index < rest.length; index++) {
    const token = rest[index] ?? '';
    const holder = file.document.getIn(path, true);
    const key = isSeq(holder) ? Number(token) : token;
    // In YAML, unquoted keys such as 200 are numbers.
    const known = file.document.hasIn([...path, key])
      ? key
      : isMap(holder) && file.document.hasIn([...path, Number(token)])
        ? Number(token)
        : undefined;
    if (known === undefined) break;
    path.push(known);
  }
  const offset = offsetOf(file, path);
  const { line, col } = file.lines.linePos(offset);
  return { file: relative(base, file.path), path: file.path, keys: path, line, column: col, missing: rest.slice(index) };
}

/** The offset of the key, or of the value if there is no key. */
function offsetOf(file: SourceFile, path: readonly (string | number)[]): number {
  const holder = file.document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  if (isMap(holder) && last !== undefined) {
    const pair = holder.items.find(({ key }) => isScalar(key) && key.value === last);
    const key = pair?.key;
    if (isScalar(key) && key.range) return key.range[0];
  }
  const node = file.document.getIn(path, true);
  return isNode(node) && node.range ? node.range[0] : 0;
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value);
}
