import { expect, test } from 'vitest';

import { curlOf, typescriptOf } from '../src/api/snippets.ts';

const request = (method: string, endpoint: string, body: unknown) => ({ method, endpoint, request_body: JSON.stringify(body) });

test('a request becomes a curl command with a quoted form and without its key', () => {
  expect(curlOf(request('PUT', '/vm/create', { cores: 2, hostname: "it's" }), 'http://127.0.0.1:4010')).toBe(
    [
      "curl -X PUT 'http://127.0.0.1:4010/vm/create'",
      '-H "X-SERVICE-APIKEY: $RESELLER_API_KEY"',
      "--data-urlencode 'cores=2'",
      "--data-urlencode 'hostname=it'\\''s'",
    ].join(' \\\n  '),
  );
});

test.each([
  ['POST', '/vm/48190/reinstall', { os: 'debian_12' }, 'reseller.vm.reinstall(48190, { os: "debian_12" })', '@reseller/client'],
  ['GET', '/domain/list', {}, 'reseller.domain.list()', '@reseller/client'],
  ['GET', '/vm/list', {}, 'reseller.vm.list()', '@reseller/client/extension'],
])('%s %s becomes a call of the client', (method, endpoint, body, call, module) => {
  const code = typescriptOf(request(method, endpoint, body), 'http://127.0.0.1:4010');
  expect(code).toContain(`await ${call};`);
  expect(code).toContain(`from '${module}';`);
});

test('a path that no operation has becomes a comment', () => {
  expect(typescriptOf(request('GET', '/nowhere', {}), '')).toBe('// The document has no operation GET /nowhere.');
});
