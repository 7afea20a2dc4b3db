import { upgrade } from '@scalar/openapi-upgrader';

import { parseDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** A document in OpenAPI 3.1, with notes about its conversion. */
export interface UpgradedDocument {
  readonly document: OpenApiDocument;
  readonly notes: readonly string[];
  /** Whether the source is in another version, so that proposals in OpenAPI 3.1 cannot be written into it. */
  readonly isUpgraded: boolean;
}

/**
 * Converts an OpenAPI 3.0 or Swagger 2 document to 3.1. Returns a 3.1 document unchanged.
 * @param value parsed JSON or YAML
 * @throws {DocumentError} when it is another document
 */
export function upgradeDocument(value: unknown): UpgradedDocument {
  const version = isObject(value) ? (value['openapi'] ?? value['swagger']) : undefined;
  if (!isObject(value) || typeof version !== 'string' || !/^(?:3\.0\.|2\.)/.test(version))
    return { document: parseDocument(value), notes: [], isUpgraded: false };
  const upgraded: unknown = upgrade(structuredClone(value), '3.1');
  return {
    document: parseDocument(completeUpgrade(upgraded, value)),
    notes: [`The document is ${version.startsWith('2') ? 'Swagger' : 'OpenAPI'} ${version}; it was read as 3.1.`],
    isUpgraded: true,
  };
}

/**
 * Completes the upgrade: adds null to nullable enumerations and alternatives, and removes `nullable` from schemas without a type. By the letter of
 * 3.0.3, `nullable` next to alternatives allows no null, but the frameworks that write it mean it.
 */
function completeUpgrade(upgraded: unknown, original: unknown): unknown {
  if (Array.isArray(upgraded))
    return upgraded.map((item, index) => completeUpgrade(item, Array.isArray(original) ? original[index] : undefined));
  if (!isObject(upgraded)) return upgraded;
  const before: JsonObject = isObject(original) ? original : {};
  const children = Object.fromEntries(Object.entries(upgraded).map(([key, child]) => [key, completeUpgrade(child, before[key])]));
  if (typeof before['nullable'] !== 'boolean') return children;
  const { nullable: _, ...schema } = children;
  if (!before['nullable']) return schema;
  const listed = schema['enum'];
  const alternatives = (['oneOf', 'anyOf'] as const).filter((keyword) => Array.isArray(schema[keyword]) && !allowsNull(schema[keyword]));
  return {
    ...schema,
    ...(Array.isArray(listed) && !listed.includes(null) ? { enum: [...listed, null] } : {}),
    ...Object.fromEntries(alternatives.map((keyword) => [keyword, [schema[keyword], { type: 'null' }].flat()])),
  };
}

/** Whether one of several alternatives is null. */
function allowsNull(alternatives: unknown): boolean {
  return Array.isArray(alternatives) && alternatives.some((one) => isObject(one) && [one['type']].flat().includes('null'));
}
