/** Breaks each rule of each form once, for every operation with a form. The rules come from the document. */
import { expect, test } from 'vitest';

import { brokenBy, brokenForms } from './broken-forms.ts';
import { contentsOf } from './contents.ts';
import { formRules } from './form-rules.ts';
import { goodCall } from './good-calls.ts';
import { startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { apiOf, withForm, writes } from './operations.ts';

test.each(withForm)(
  '%s: responds to each broken rule of its form with 422 that names the field and the rule, and changes nothing',
  async (id) => {
    const service = await startService();
    const owner = await service.account();
    const sent = await goodCall(service, id, owner);
    const before = await contentsOf(service);
    const forms = brokenForms(id, sent.form ?? {});
    expect(forms.length).toBeGreaterThan(4);
    for (const { what, body: broken, field, rules } of forms) {
      const { form: _form, ...others } = sent;
      const { status, body } = await service.call(id, { ...others, body: broken });
      expect.soft([what, status, body.type], JSON.stringify(body)).toEqual([what, 422, 'validation_failed']);
      const named: { field: string; rule: string }[] = body.data?.fields ?? [];
      const expected = rules.map((rule) => `${field} ${rule}`);
      expect.soft([what, ...named.map((issue) => `${issue.field} ${issue.rule}`).toSorted()]).toEqual([what, ...expected.toSorted()]);
      expect.soft(await newestEntry(service, owner.id), what).toMatchObject({
        success: 0,
        error_type: 'validation_failed',
        method: apiOf(id).operation.method,
        response_body: JSON.stringify(body),
      });
    }
    expect(await contentsOf(service)).toEqual(before);
    // The form without a broken rule is valid.
    expect((await service.call(id, sent)).status).toBe(200);
  },
);

test('every operation names each field once that must not be empty, for a form with only empty fields', async () => {
  const service = await startService();
  for (const id of withForm) {
    const sent = await goodCall(service, id, await service.account());
    const { fields } = formRules(id);
    const { body } = await service.call(id, { ...sent, body: [...fields.keys()].map((name) => `${name}=`).join('&') });
    // A form may be valid with only empty fields, such as that of a backup without a description.
    const named: { field: string }[] = body.type === 'validation_failed' ? body.data.fields : [];
    const mayBeEmpty = [...fields].filter(([, rules]) => brokenBy('', rules).length === 0).map(([name]) => name);
    expect.soft([...new Set([...named.map(({ field }) => field), ...mayBeEmpty])].toSorted(), id).toEqual([...fields.keys()].toSorted());
  }
});

test('every operation without a form refuses a form as malformed, and changes nothing', async () => {
  const service = await startService();
  for (const id of writes.filter((write) => !withForm.includes(write))) {
    const owner = await service.account();
    const sent = await goodCall(service, id, owner);
    const before = await contentsOf(service);
    for (const body of ['x=1', '__proto__=1', '%zz']) {
      const refused = { status: 400, body: { type: 'malformed_request', data: null } };
      expect.soft(await service.call(id, { ...sent, body }), id).toMatchObject(refused);
      expect.soft(await contentsOf(service), id).toEqual(before);
      expect.soft(await newestEntry(service, owner.id), id).toMatchObject({ success: 0, error_type: 'malformed_request' });
    }
    expect.soft(await service.call(id, { ...sent, body: '' }), id).toMatchObject({ status: 200 });
  }
});

async function newestEntry({ store }: TestService, accountId: string): Promise<unknown> {
  await store.requestLog.numberAll();
  return store.read((db) =>
    db.selectFrom('request_log').selectAll().where('account_id', '=', accountId).orderBy('number', 'desc').limit(1).executeTakeFirst(),
  );
}
