import { expect, test } from 'vitest';

import { invalid, notFound, RateLimited, Refusal } from './refusal.ts';

test('a refusal has a status, a type and a message, and by default neither fields nor a retry time', () => {
  const refusal = new Refusal(409, 'wrong_state', 'The VM is stopped.');
  expect(refusal).toMatchObject({ name: 'Refusal', status: 409, type: 'wrong_state', message: 'The VM is stopped.', fields: null });
  expect(refusal.retryAfter).toBeUndefined();
});

test.each([
  [1, '1 second'],
  [2, '2 seconds'],
])('a refusal by a rate limit of %d s has the seconds to wait', (retryAfter, wait) => {
  expect(new RateLimited(retryAfter)).toMatchObject({
    status: 429,
    type: 'rate_limited',
    retryAfter,
    message: `This API key has sent too many requests. Wait ${wait}, as Retry-After says, and send the request again.`,
  });
  expect(new RateLimited(retryAfter, 'Too many clients.').message).toMatch(/^Too many clients\. Wait /);
});

test('names each broken rule of an invalid form', () => {
  const cores = { field: 'cores', rule: 'minimum', message: 'must be at least 1' } as const;
  const os = { field: 'os', rule: 'exists', message: 'must be an image' } as const;
  expect(invalid([cores])).toMatchObject({
    status: 422,
    type: 'validation_failed',
    fields: [cores],
    message: 'The form breaks a rule: cores must be at least 1.',
  });
  expect(invalid([cores, os])).toMatchObject({
    fields: [cores, os],
    message: 'The form breaks rules: cores must be at least 1; os must be an image.',
  });
});

test('names the kind of an identifier that does not exist', () => {
  expect(notFound('VM')).toMatchObject({
    status: 404,
    type: 'not_found',
    message: 'No such VM exists on this account. Check the identifier in the path.',
  });
});
