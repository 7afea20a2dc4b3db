/** The function `fetch` of the platform, not one that a test has put in its place. */
export const ownFetch: typeof fetch | undefined = globalThis.fetch;

const isNode = ['process', 'Deno', 'Bun'].map((name) => Reflect.has(globalThis, name)).join() === 'true,false,false';

/**
 * A request that `fetch` of Node sends once. After a 421, it sends any body but a stream again, as the Fetch standard says. With its length, a
 * stream is sent like a text.
 */
export function unrepeatable(init: RequestInit): RequestInit {
  if (!isNode || (init.body !== null && typeof init.body !== 'string')) return init;
  const text = init.body ?? '';
  const headers = new Headers(init.headers);
  headers.set('content-length', String(new TextEncoder().encode(text).length));
  // A stream of the realm of `fetch`, which differs from that of the program in Jest.
  return Object.assign({ ...init, headers, body: new Response(text).body }, { duplex: 'half' });
}
