import { expect, it } from 'vitest';

import { bundle, partOf } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';

it('writes a schema with x-data as the envelope with that data', async () => {
  const thing = soundTree['components/schemas/thing/Thing.yaml'] ?? '';
  const document = await bundle({
    ...soundTree,
    'components/schemas/thing/Data.yaml': thing.replaceAll('ThingState.yaml', './ThingState.yaml'),
    'components/schemas/thing/Thing.yaml': 'description: The thing.\nx-data:\n  $ref: Data.yaml\n',
  });
  expect(partOf(document, 'components', 'schemas', 'Thing')).toEqual({
    description: 'The thing.',
    allOf: [
      { $ref: '#/components/schemas/SuccessEnvelope' },
      { type: 'object', required: ['data'], properties: { data: { $ref: '#/components/schemas/Data' } } },
    ],
  });
});
