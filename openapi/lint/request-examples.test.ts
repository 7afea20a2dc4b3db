import { expect, it } from 'vitest';

import { bundle, partOf } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';

it('repeats the examples of a request body in its schema', async () => {
  const document = await bundle(soundTree);
  const example = partOf(document, 'components', 'examples', 'ChangeThingForm', 'value');
  expect(example).toBeDefined();
  expect(partOf(document, 'components', 'schemas', 'ChangeThingForm', 'examples')).toEqual([example]);
});

it('adds no examples to the schemas of responses', async () => {
  expect(partOf(await bundle(soundTree), 'components', 'schemas', 'Thing', 'examples')).toBeUndefined();
});
