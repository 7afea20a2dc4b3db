/** Hostile values in every field and every path parameter of every operation of the document. */
import { writeForm } from '@reseller/contract';
import { expect, test } from 'vitest';

import { byDepth, isDeep } from '../../../.config/depth.ts';
import { contentsOf, textsIn } from './contents.ts';
import { formRules } from './form-rules.ts';
import { goodCall } from './good-calls.ts';
import { startService } from './harness.ts';
import { NEVER, PERHAPS } from './hostile-texts.ts';
import { apiOf, pathParametersOf, withForm, withPath } from './operations.ts';

/** These operations store many values of a field, or only the last one. */
const KEEPING_LAST: ReadonlySet<string> = new Set([
  'editDomainDns',
  'addDomainDns',
  'editDomainDnsRecord',
  'editVm',
  'editWebhook',
  'submitVmAbuseStatement',
]);

/** The usual run sends every third text to each field, and all of them as path parameters. */
const texts = byDepth({ usual: PERHAPS.filter((_, index) => index % 3 === 0), deep: PERHAPS });

test.each(withForm)('%s: responds with 4xx to hostile values in every field, or stores them unchanged', async (id) => {
  const service = await startService();
  const sent = await goodCall(service, id, await service.account('90000.00'));
  const { operation } = apiOf(id);
  const { form = {}, ...others } = sent;
  const tables = Object.keys(await contentsOf(service));
  const before = await contentsOf(service);
  const { fields } = formRules(id);
  const withField = (field: string, raw: string) =>
    service.call(id, { ...others, body: `${writeForm(operation, { ...form, [field]: undefined })}&${field}=${raw}` });
  for (const field of fields.keys()) {
    for (const [what, raw] of NEVER) {
      const { status } = await withField(field, raw);
      expect.soft([400, 422], `the status for ${what} in ${field} is ${status}`).toContain(status);
    }
    expect.soft(await contentsOf(service), field).toEqual(before);
  }
  for (const [field, { type }] of fields) {
    const taken: string[] = [];
    for (const value of texts) {
      const { status, body } = await withField(field, encodeURIComponent(value));
      expect.soft(status < 500, `the status for ${value} in ${field} is ${status}: ${body.message}`).toBe(true);
      // Names are case-insensitive and stored in lower case.
      if (status === 200 && type === 'string') taken.push(field === 'sub' ? value.toLowerCase() : value);
      if (status === 200 && KEEPING_LAST.has(id))
        expect.soft((await textsIn(service.store)).has(taken.at(-1)), `${value} in ${field}`).toBe(true);
    }
    // A quote takes the form of a purchase and stores nothing.
    if (KEEPING_LAST.has(id) || operation.readOnly) continue;
    const kept = await textsIn(service.store);
    expect
      .soft(
        taken.filter((value) => !kept.has(value)),
        `${field} is kept as another text`,
      )
      .toEqual([]);
  }
  expect(Object.keys(await contentsOf(service))).toEqual(tables);
});

/** Values of a path parameter that no resource has. The usual run sends a third of them to each operation, a different third to the next one. */
const HOSTILE_SEGMENTS = [...PERHAPS, 'a\u0000b', '\r\nSet-Cookie: x', '\u001B[2J', 'x'.repeat(900), 'a/b', 'a?b', 'a#b', ' ', ';', "1'--"];

test('every operation responds with 4xx to hostile path parameters, and changes nothing', async () => {
  const service = await startService();
  for (const [index, id] of withPath.entries()) {
    const { path, ...others } = await goodCall(service, id, await service.account());
    // Some operations also carry out what earlier calls have left to do.
    await service.runScheduledJobs();
    const before = await contentsOf(service);
    for (const name of pathParametersOf(apiOf(id))) {
      for (const value of HOSTILE_SEGMENTS.filter((_, at) => isDeep || (at - index) % 3 === 0)) {
        const { status } = await service.call(id, { ...others, path: { ...path, [name]: value } });
        expect.soft([400, 404, 409], `${id}: the status for ${value} is ${status}`).toContain(status);
      }
    }
    expect.soft(await contentsOf(service), id).toEqual(before);
  }
});
