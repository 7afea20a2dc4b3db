import { CHECKS } from '@reseller/contract/engine';
import type { Check } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import type { Console } from '../console.ts';
import { OWN_CHECKS } from '../reseller.ts';

const ALL: readonly Check[] = [...CHECKS, ...OWN_CHECKS.filter((own) => !CHECKS.some(({ id }) => id === own.id))];

/**
 * Prints what a check claims, an example of a finding, how it decides, and what a finding means.
 * @param id the name of the check in a finding; empty for the list of all checks
 * @throws {CannotRunError} when there is no such check
 */
export function explainCheck(id: string, output: Console): 0 {
  if (id === '') {
    output.print(ALL.map((check) => `${check.id.padEnd(24)}${check.claim}`).join('\n'));
    return 0;
  }
  const check = ALL.find((one) => one.id === id);
  if (check === undefined) throw new CannotRunError(`There is no check ${id}. The checks are ${ALL.map((one) => one.id).join(', ')}.`);
  const { claim, example, judges, client } = check;
  output.print(
    [
      `${id}: ${claim}`,
      ...(example === undefined ? [] : [`For example\n  ${example}`]),
      `How it decides\n  ${judges}`,
      `What a finding means\n  ${client}`,
    ].join('\n\n'),
  );
  return 0;
}
