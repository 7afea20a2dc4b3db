/** The rules that the document lists are those that the service gives, no more and no fewer. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { FIELD_RULES } from '../src/generated/facts.gen.ts';
import { formRules } from './form-rules.ts';
import { withForm } from './operations.ts';

const SOURCE = join(import.meta.dirname, '../src');
/** Rules of reading a form, and of the keywords that no field has for itself. */
const OF_FORMS = ['required', 'dependentRequired', 'unknown', 'repeated'];

test('the document lists each rule that the service gives, and no other', () => {
  const keywords = withForm.flatMap((id) => [...formRules(id).fields.values()].flatMap((rules) => Object.keys(rules)));
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('generated'),
  );
  const written = files.flatMap((file) =>
    [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/\brule: '(\w+)'/g)].flatMap(([, rule]) => rule ?? []),
  );
  expect(written.length).toBeGreaterThan(20);
  expect([...new Set([...OF_FORMS, ...keywords, ...written])].toSorted()).toEqual([...FIELD_RULES].toSorted());
});
