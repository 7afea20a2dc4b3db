import { describe, expect, it } from 'vitest';

import { mergeDocuments } from './merge.ts';
import { applyAction, overlayActions } from './overlay.ts';

const base = {
  openapi: '3.1.0',
  info: { title: 'API', description: 'About the API.\n' },
  tags: [{ name: 'VM', description: 'VMs.' }],
  paths: { '/vm/create': { put: { responses: { 200: { description: 'Created.' } } } } },
  components: { schemas: { Shared: { type: 'string' }, Form: { properties: { cores: { type: 'integer' } } } } },
};
const extension = {
  openapi: '3.1.0',
  info: { title: 'Extension', description: '# Extension\n' },
  tags: [{ name: 'VM', description: 'VMs after their purchase.' }, { name: 'DNS' }],
  paths: { '/vm/list': { get: {} } },
  components: { schemas: { Shared: { type: 'string' }, Price: { type: 'string' } }, responses: { TooHigh: {} } },
};

describe('mergeDocuments', () => {
  it('has the operations, tags and components of both, and the title of the specification', () => {
    expect(mergeDocuments(base, extension, [])).toEqual({
      openapi: '3.1.0',
      info: { title: 'API', description: 'About the API.\n\n# Extension' },
      tags: [base.tags[0], { name: 'DNS' }],
      paths: { ...base.paths, ...extension.paths },
      components: { schemas: { ...base.components.schemas, Price: { type: 'string' } }, responses: { TooHigh: {} } },
    });
  });

  it.each([
    ['component', { components: { schemas: { Shared: { type: 'integer' } } } }, 'Shared'],
    ['path', { paths: { '/vm/create': { get: {} } } }, '/vm/create'],
  ])('refuses two definitions of a %s', (_part, other, name) => {
    expect(() => mergeDocuments(base, { ...extension, ...other }, [])).toThrow(`have different definitions of ${name}`);
  });

  it('applies the actions to a copy', () => {
    const before = structuredClone(base);
    const target = '$.components.schemas.Form.properties';
    const merged = mergeDocuments(base, extension, [{ target, update: { max_price: { $ref: '#/components/schemas/Price' } } }]);
    expect(merged).toMatchObject({
      components: { schemas: { Form: { properties: { cores: { type: 'integer' }, max_price: { $ref: '#/components/schemas/Price' } } } } },
    });
    expect(base).toEqual(before);
  });
});

describe('applyAction', () => {
  it.each([
    ["$.paths['/vm/create'].put.responses", { 412: {} }, undefined],
    ["$.paths['/vm/create'].put.responses", { 200: {} }, 'already has 200'],
    ["$.paths['/vm/delete'].put", { x: 1 }, 'has no object or list at'],
    ['$.paths[*]', { x: 1 }, 'is not a JSONPath of names'],
  ])('%s with %j: %s', (target, update, message) => {
    const apply = () => applyAction(base, { target, update });
    if (message === undefined) expect(apply()).toMatchObject({ paths: { '/vm/create': { put: { responses: update } } } });
    else expect(apply).toThrow(message);
  });

  it('appends an item to a list', () => {
    expect(applyAction(base, { target: '$.tags', update: { name: 'DNS' } })).toEqual({ ...base, tags: [...base.tags, { name: 'DNS' }] });
  });
});

describe('overlayActions', () => {
  it.each([
    [{}, 'has no list of actions'],
    [{ actions: [{ target: '$.info' }] }, 'Action 1 of the overlay needs a target and an update'],
  ])('refuses %j', (overlay, message) => {
    expect(() => overlayActions(overlay)).toThrow(message);
  });
});
