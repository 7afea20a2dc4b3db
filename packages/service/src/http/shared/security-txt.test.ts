import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';

test('both ports serve security.txt with the contact of the provider, and an expiry within a year', async () => {
  const service = await startOperator({ securityContact: 'mailto:security@provider.example', publicUrl: 'https://api.provider.example' });
  for (const url of [service.baseUrl, service.operatorUrl]) {
    const response = await fetch(`${url}/.well-known/security.txt`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = new Map(
      (await response.text())
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    expect(fields.get('Contact')).toBe('mailto:security@provider.example');
    expect(fields.get('Canonical')).toBe('https://api.provider.example/.well-known/security.txt');
    const expires = Date.parse(fields.get('Expires') ?? '');
    expect(expires).toBeGreaterThan(Date.now());
    expect(expires).toBeLessThan(Date.now() + 365 * 86_400_000);
  }
});

test('without a contact there is no security.txt', async () => {
  const service = await startOperator();
  expect((await fetch(`${service.operatorUrl}/.well-known/security.txt`)).status).toBe(404);
});
