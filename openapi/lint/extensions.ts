import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { isFields, isText } from './nodes.ts';

/** Redocly's names for the places in EXTENSIONS.md where a key is allowed. */
const KINDS = new Map([
  ['operation', 'Operation'],
  ['parameter', 'Parameter'],
  ['response', 'Response'],
  ['header', 'Header'],
  ['schema', 'Schema'],
  ['property', 'Schema'],
  ['tag', 'Tag'],
]);

/** Words of the column "values" that mean any value of a type. */
const KINDS_OF_VALUES = new Map<string, (value: unknown) => boolean>([
  ['a text', isText],
  ['a number', Number.isSafeInteger],
  ['a consequence', isConsequence],
  ['a list of texts', (value) => Array.isArray(value) && value.length > 0 && value.every(isText)],
]);

function isConsequence(value: unknown): boolean {
  if (!isFields(value) || !isText(value['reads']) || !isFields(value['parameters'])) return false;
  return (
    Array.isArray(value['cases']) &&
    value['cases'].length > 0 &&
    value['cases'].every((one: unknown) => isFields(one) && isText(one['text']))
  );
}

interface Extension {
  where: string;
  kinds: Set<string>;
  values: string[];
  /** Whether a map of these values is also a value. */
  isMap: boolean;
  isRequired: boolean;
}

/**
 * The table of EXTENSIONS.md.
 *
 * @throws Error if a row cannot be read, naming it
 */
export function readExtensions(file: string): Map<string, Extension> {
  const found = new Map<string, Extension>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, name] = /^\| `(x-[a-z-]+)` \|/.exec(line) ?? [];
    if (name === undefined) {
      if (line.startsWith('| `')) throw new Error(`${file}: the row "${line}" does not name an x- key in code font.`);
      continue;
    }
    const [where = '', values = ''] = line.split('|').slice(2);
    const kinds = new Set<string>();
    for (const word of where.replaceAll(/\(.*?\)/g, '').split(',')) {
      const kind = KINDS.get(word.trim());
      if (kind === undefined) {
        throw new Error(`${file}: ${name} is allowed on "${word.trim()}", which is not one of ${[...KINDS.keys()].join(', ')}.`);
      }
      kinds.add(kind);
    }
    const listed = [...values.matchAll(/`([^`]+)`/g)].flatMap(([, value]) => value ?? []);
    if (listed.length === 0) throw new Error(`${file}: ${name} has no value in code font.`);
    found.set(name, {
      where: where.trim(),
      kinds,
      values: listed,
      isMap: values.includes('or a map of'),
      isRequired: where.includes('(required)'),
    });
  }
  if (found.size === 0) throw new Error(`${file}: no table of x- keys was found.`);
  return found;
}

function isListed({ values, isMap }: Extension, value: unknown): boolean {
  function isWord(word: unknown): boolean {
    return values.some((listed) => KINDS_OF_VALUES.get(listed)?.(word) ?? word === (listed === 'true' ? true : listed));
  }
  return isMap && isFields(value) ? Object.keys(value).length > 0 && Object.values(value).every(isWord) : isWord(value);
}

/**
 * Programs read x- keys, so a misspelt key would be ignored. Each key is listed in EXTENSIONS.md and used as its table says.
 *
 * The option `without` lists keys that a document does not use.
 *
 * @param folder - the folder that holds EXTENSIONS.md
 */
export function extensions(folder: string): Oas3Rule {
  return ({ without = [] }: { without?: readonly string[] }) => {
    const known = readExtensions(join(folder, 'EXTENSIONS.md'));

    function judge(node: unknown, { report, location, type }: Pick<UserContext, 'report' | 'location' | 'type'>): void {
      // In a map, a name that begins with x- is an entry.
      if (!isFields(node) || type.extensionsPrefix === undefined) return;
      for (const [key, value] of Object.entries(node)) {
        if (!key.startsWith('x-')) continue;
        const extension = known.get(key);
        const at = location.child(key);
        if (extension === undefined) {
          const names = [...known.keys()].join(', ');
          report({
            message: `${key} is not listed in EXTENSIONS.md, so nothing reads it. Use one of ${names}, or add a row to the table.`,
            location: at.key(),
          });
        } else if (without.includes(key)) {
          report({
            message: `${key} has no meaning in this document, because redocly.yaml excludes it (without). Remove it.`,
            location: at.key(),
          });
        } else if (!extension.kinds.has(type.name)) {
          report({
            message: `${key} is on a part of kind ${type.name}, where nothing reads it. EXTENSIONS.md allows it on: ${extension.where}.`,
            location: at.key(),
          });
        } else if (!isListed(extension, value)) {
          report({
            message: `${key} has the value ${JSON.stringify(value)}. EXTENSIONS.md allows: ${extension.values.join(', ')}${extension.isMap ? ', or a map of keywords to these' : ''}.`,
            location: at,
          });
        }
      }
    }

    return {
      any: {
        enter(node: unknown, context) {
          judge(node, context);
          if (!isFields(node)) return;
          for (const [key, { kinds, isRequired, values }] of known) {
            if (!isRequired || without.includes(key) || !kinds.has(context.type.name) || key in node) continue;
            context.report({
              message: `${key} is missing here. EXTENSIONS.md requires it on: ${context.type.name}; its values are ${values.join(', ')}.`,
              location: context.location.key(),
            });
          }
        },
      },
      // Redocly does not visit the keys next to a reference.
      ref: (node, context) => judge(node, context),
    };
  };
}
