/**
 * What the document says of a form is what the service does: a text that keeps the rules of its field is not refused for
 * its syntax, and one that breaks them is refused by the rule that it breaks. Texts are made from the document.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../.config/depth.ts';
import { brokenBy } from './broken-forms.ts';
import { formRules } from './form-rules.ts';
import type { FieldRules } from './form-rules.ts';
import { goodCall } from './good-calls.ts';
import { startService } from './harness.ts';
import { withForm } from './operations.ts';

/** Rules that only the service can check, by field, for texts that follow the rules of the document. */
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  os: ['exists'],
  labels: ['distinct'],
  mode: ['exists'],
  // A disk cannot shrink.
  disk: ['minimum'],
  storage: ['minimum'],
  hostsystem: ['exists'],
  ssh_key: ['ssh_key'],
  // The good call has an SSH key already.
  ssh_key_id: ['exists', 'ssh_key'],
  domain: ['domain', 'tld', 'registrable'],
  ip_address: ['exists'],
  interval: ['exists'],
  iso: ['exists'],
  events: ['exists'],
  status: ['exists'],
  url: ['format'],
  since: ['format'],
  cursor: [],
  backup_slots: ['minimum'],
  handle: ['exists', 'phone'],
  authcode: ['accepted'],
  ns1: ['domain', 'distinct', 'exists'],
  ns2: ['domain', 'distinct', 'exists'],
  ns3: ['domain', 'distinct', 'exists'],
  ns4: ['domain', 'distinct', 'exists'],
  ns5: ['domain', 'distinct', 'exists'],
  type: ['exists'],
  sub: ['subdomain', 'apex'],
  data: ['address', 'caa', 'hostname', 'mx', 'srv', 'distinct'],
  countrycode: ['exists'],
  vmid: ['exists', 'unavailable', 'maximum'],
  phone: ['phone'],
};
const RUNS_PER_FIELD = amountOf('DESCRIBED_FORMS_RUNS', { usual: 4, deep: 100 });
const REGULAR_EXPRESSION = /\[\^|\\x|\)\?|\{\d+,\d*\}|\$$/;

/** Texts that mostly follow the rules of a field, or almost do. */
function textsFor({ type, minimum = 0, pattern }: FieldRules): fc.Arbitrary<string> {
  if (type === 'boolean') return fc.constantFrom('true', 'false', '1', '', 'TRUE');
  if (type === 'integer') {
    const bounded = fc.integer({ min: minimum - 2, max: minimum + 20_000 });
    return fc
      .oneof(
        bounded,
        bounded.map((value) => value * 100),
        fc.integer({ min: -5, max: 2 ** 33 }),
      )
      .map(String);
  }
  const any = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.domain(),
    fc.ipV4(),
    fc.string({ minLength: 200, maxLength: 300 }),
  );
  if (pattern === undefined) return any;
  const matching = fc.stringMatching(new RegExp(pattern));
  const oneChanged = fc.tuple(matching, fc.nat(), fc.constantFrom('-', '.', ' ', '_', '\n', 'ß', '')).map(([text, at, put]) => {
    const place = at % (text.length + 1);
    return (text.slice(0, place) + put + text.slice(place + 1)).toWellFormed();
  });
  return fc.oneof(matching, oneChanged, any);
}

test.each(withForm)('%s: refuses exactly the texts that the document refuses, and says so without a regular expression', async (id) => {
  const service = await startService({ creditLimit: '9000000.00' });
  const sent = await goodCall(service, id, await service.account('9000000.00'));
  const { fields } = formRules(id);
  const field = fc.constantFrom(...fields.keys());
  const changed = field.chain((name) => fc.tuple(fc.constant(name), textsFor(fields.get(name) ?? { type: 'string' })));
  await fc.assert(
    fc.asyncProperty(changed, async ([name, text]) => {
      const rules = fields.get(name);
      if (!rules) throw new Error(`The form of ${id} has no field ${name}.`);
      const { status, body } = await service.call(id, { ...sent, form: { ...sent.form, [name]: text } });
      expect(status).toBeLessThan(500);
      const found: { field: string; rule: string; message: string }[] = status === 422 ? body.data.fields : [];
      for (const { message } of found) expect(message).not.toMatch(REGULAR_EXPRESSION);
      const given = found.filter((broken) => broken.field === name);
      const expected = brokenBy(text, rules);
      if (expected.length > 0) {
        expect(given.map(({ rule }) => rule).toSorted()).toEqual(expected.toSorted());
        return;
      }
      // The limits of a host system are not part of the syntax.
      const ofHost = (message: string) => message.includes('on the host system');
      for (const { rule, message } of given) if (!ofHost(message)) expect(CONTENT[name] ?? []).toContain(rule);
    }),
    { numRuns: RUNS_PER_FIELD * fields.size },
  );
});
