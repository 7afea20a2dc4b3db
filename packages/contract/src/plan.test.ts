import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { readOperations } from './operations.ts';
import { guardSend, planReadOnly, RefusedRequestError } from './plan.ts';

const operations = readOperations(bundle);
const plan = planReadOnly(operations);
const sent: string[] = [];
const send = guardSend({
  operations,
  plan,
  target: new URL('http://target.example/base/'),
  send: async (request) => {
    sent.push(request.url);
    return new Response();
  },
});

function requestTo(url: string, method = 'GET'): Request {
  return new Request(url, { method, redirect: 'manual' });
}

describe('the read-only plan', () => {
  test('allows what reads, and says of the rest why not', () => {
    expect([...plan.allowed].toSorted()).toEqual(
      operations
        .filter(({ readOnly }) => readOnly)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(plan.allowed.has('listRequests')).toBe(true);
    expect(plan.withheld.get('createVm')).toContain('costs money');
    expect(plan.withheld.get('generateOtp')).toContain('changes state');
  });
});

describe('the guard', () => {
  test('lets through what the plan allows', async () => {
    await send(requestTo('http://target.example/base/domain/list'));
    await send(requestTo('http://target.example/base/account/requests', 'POST'));
    expect(sent).toHaveLength(2);
  });

  test.each([
    ['another method', 'http://target.example/base/vm/create', 'PUT'],
    ['a path that only looks like an identifier', 'http://target.example/base/dedicated/x/../7/delete', 'DELETE'],
    ['a path that leaves the base address', 'http://target.example/base/../domain/list', 'GET'],
    ['a path that is no operation', 'http://target.example/base/nothing', 'GET'],
    ['another origin', 'http://other.example/base/domain/list', 'GET'],
    ['another port', 'http://target.example:81/base/domain/list', 'GET'],
    ['every operation that changes something', 'http://target.example/base/account/otp', 'POST'],
  ])('refuses %s', (_, url, method) => {
    const before = sent.length;
    expect(() => send(requestTo(url, method))).toThrow(RefusedRequestError);
    expect(sent).toHaveLength(before);
  });

  test('refuses to follow redirects', () => {
    expect(() => send(new Request('http://target.example/base/domain/list'))).toThrow('redirects');
  });
});
