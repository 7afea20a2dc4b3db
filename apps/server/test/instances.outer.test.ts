/** Runs the commands of README.md, section "Two instances on one database". */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { expect, test } from 'vitest';

import { newDatabase, query } from './database.ts';
import { SAMPLE_VM } from './process.ts';
import { commandsOf, runScript, withFreePorts } from './runbook.ts';

const README = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');

test('the commands of the section work as described', { tags: 'deep' }, async () => {
  const url = await newDatabase();
  const script = await withFreePorts(commandsOf(README, 'Two instances on one database'), ['4010', '4011', '4110', '4111']);
  const example = /^export DATABASE_URL=(\S+)$/m.exec(script)?.[1] ?? '';
  expect(example).toMatch(/^postgres:/);
  const { code, stdout: printed, stderr } = await runScript(`${script.replace(example, url)}\nwait $two || true\n`);
  expect({ code, problems: code === 0 ? '' : stderr }).toEqual({ code: 0, problems: '' });

  const bodies = [...printed.matchAll(/\{"(?:status|now)".*?\}(?=\{"(?:status|now)"|\s*$)/gs)].map(([body]) => JSON.parse(body));
  const [first, invoice, advanced, clock, second] = bodies;
  expect(bodies).toHaveLength(5);
  expect(Object.keys(invoice.data.positions.vms).map(Number).toSorted()).toEqual([first.data.identifier, SAMPLE_VM].toSorted());
  expect([advanced.advance_seconds, clock.advance_seconds]).toEqual([3_600, 3_600]);
  expect(await query(url, 'select id::int from vms order by created')).toEqual([
    { id: SAMPLE_VM },
    { id: first.data.identifier },
    { id: second.data.identifier },
  ]);
  // Both instances have released their leases.
  expect(await query(url, 'select id from instances')).toEqual([]);
});
