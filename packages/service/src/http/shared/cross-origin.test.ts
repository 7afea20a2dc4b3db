/** The pages of the documentation call the operator API of a sandbox from another origin, and its console the reseller API. No other page may. */
import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';
import { exchange, requestText } from '../../../test/raw-http.ts';

const DOCS_ORIGIN = 'https://sandbox.example';

async function start(mode: 'sandbox' | 'live') {
  const { operatorUrl } = await startOperator({ mode, publicUrl: DOCS_ORIGIN });
  return (line: string, origin: string) =>
    exchange(
      operatorUrl,
      requestText(line, [`Host: ${new URL(operatorUrl).host}`, `Origin: ${origin}`, 'Access-Control-Request-Method: POST']),
    );
}

test('lets the documentation of a sandbox send requests to each path', async () => {
  const ask = await start('sandbox');
  const preflight = await ask('OPTIONS /sandbox/clock/advance HTTP/1.1', DOCS_ORIGIN);
  expect([preflight.status, preflight.text]).toEqual([204, '']);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(DOCS_ORIGIN);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
  // A page can read the refusal of a request too.
  const refused = await ask('GET /accounts HTTP/1.1', DOCS_ORIGIN);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, DOCS_ORIGIN]);
});

test.each([
  ['a page of another origin', 'sandbox', 'https://other.example'],
  ['a page that hides its origin', 'sandbox', 'null'],
  ['the documentation of a live service', 'live', DOCS_ORIGIN],
] as const)('allows nothing to %s', async (_, mode, origin) => {
  const ask = await start(mode);
  const preflight = await ask('OPTIONS /sandbox/clock/advance HTTP/1.1', origin);
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  const refused = await ask('GET /accounts HTTP/1.1', origin);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, null]);
});

test.each(['sandbox', 'live'] as const)('only the console of a sandbox may send requests to the reseller API: %s', async (mode) => {
  const { baseUrl, operatorUrl } = await startOperator({ mode });
  const ask = (origin: string) =>
    exchange(
      baseUrl,
      requestText('OPTIONS /vm/create HTTP/1.1', [
        `Host: ${new URL(baseUrl).host}`,
        `Origin: ${origin}`,
        'Access-Control-Request-Method: PUT',
      ]),
    );
  const ofConsole = await ask(operatorUrl);
  const ofOther = await ask('http://127.0.0.1:1');
  const allowed = ({ status, headers }: typeof ofConsole) => [status, headers.get('access-control-allow-origin')];
  expect(allowed(ofConsole)).toEqual(mode === 'sandbox' ? [204, operatorUrl] : [405, null]);
  expect(allowed(ofOther)).toEqual([405, null]);
});
