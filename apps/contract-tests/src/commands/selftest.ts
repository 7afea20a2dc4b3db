import type { Console } from '../console.ts';
import { openChosenDocument } from '../document.ts';
import type { Arguments } from '../options.ts';
import { columns } from '../render.ts';
import { ALL_CHECKS, controlRun, proveCheck } from '../selftest.ts';

/** Tests that every check finds its own defect, and that a service without defects has no findings. */
export async function selftest(args: Arguments, output: Console): Promise<0 | 1> {
  const { document } = await openChosenDocument(args);
  const control = await controlRun(document);
  const rows: (readonly string[])[] = [];
  let failed = control.length;
  for (const [index, check] of ALL_CHECKS.entries()) {
    output.progress(`${index + 1}/${ALL_CHECKS.length}  ${check.id}`);
    const { found, defect } = await proveCheck(document, check);
    if (!found) failed++;
    rows.push([found ? 'found' : 'MISSED', check.id, defect]);
  }
  output.print(columns(rows).join('\n'));
  output.print(
    control.length === 0
      ? 'The service without defects has no findings.'
      : `False alarms on the service without defects:\n${columns(control.map(({ check, message }) => [check, message])).join('\n')}`,
  );
  output.print(
    `${rows.length - rows.filter(([state]) => state === 'MISSED').length} of ${rows.length} defects found, ${control.length} false alarms`,
  );
  return failed === 0 ? 0 : 1;
}
