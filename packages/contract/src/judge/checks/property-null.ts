import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';

export const propertyNull: Check = {
  id: 'property-null',
  claim: 'Values are null only where the document allows it.',
  example: '`expires` has `type: string`, and its value is null.',
  judges: 'Uses Ajv 2020. The check property-required judges missing properties.',
  client: 'The generated type does not include `null`, so TypeScript does not make you handle it, and reading a property of it throws.',
  applies: describes(({ schema }) => schema['type'] !== undefined),
  checkResponse: (context) =>
    schemaRemarks(context, ({ keyword }, value) => value === null && keyword !== 'required' && keyword !== 'dependentRequired'),
};
