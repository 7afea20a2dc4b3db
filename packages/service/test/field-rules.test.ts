/** The document lists exactly the rules that the service returns. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { FIELD_RULES } from '../src/generated/facts.gen.ts';
import { formRules } from './form-rules.ts';
import { withForm } from './operations.ts';

const SOURCE = join(import.meta.dirname, '../src');
/** Rules of parsing a form, and of keywords that apply to no single field. */
const OF_FORMS = ['required', 'dependentRequired', 'unknown', 'repeated'];

test('the document lists each rule that the service returns, and no other', () => {
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
