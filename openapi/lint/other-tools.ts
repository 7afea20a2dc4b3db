/** The findings of two widely used tools: Spectral with its ruleset `oas`, and swagger-parser. */
import { readFileSync } from 'node:fs';

import SwaggerParser from '@apidevtools/swagger-parser';
import { Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

const BUNDLES = ['openapi', 'service', 'operator'] as const;

/**
 * The findings of both tools, warnings and hints included, one line each.
 *
 * @param json - a bundle
 */
export async function findingsOfOtherTools(json: string): Promise<string[]> {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [], ...oas });
  const findings = (await spectral.run(JSON.parse(json))).map(
    ({ code, path, message }) => `Spectral, ${code} at /${path.join('/')}: ${message}`,
  );
  try {
    await SwaggerParser.validate(JSON.parse(json));
  } catch (error) {
    findings.push(`swagger-parser: ${error instanceof Error ? error.message : String(error)}`);
  }
  return findings;
}

if (import.meta.main) {
  for (const name of BUNDLES) {
    const findings = await findingsOfOtherTools(readFileSync(new URL(`../generated/${name}.json`, import.meta.url), 'utf8'));
    for (const finding of findings) process.stderr.write(`${name}.json: ${finding}\n`);
    if (findings.length > 0) process.exitCode = 1;
  }
}
