/** Kinds of broken networks: the fates of the attempts of one purchase. */
import type { Fate, Page } from './proxy.ts';

const html = (status: number, headers: Readonly<Record<string, string>> = {}): Page => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: `<html><body><h1>${status}</h1></body></html>`,
});
const json = (status: number, body: string): Page => ({ status, headers: { 'content-type': 'application/json' }, body });

/** The first response is lost, after the purchase or before it. */
const losses: Readonly<Record<string, Fate>> = {
  'a reset after the purchase': { kind: 'reset', when: 'after' },
  'a cut body': { kind: 'cut' },
  'a 504 page after the purchase': { kind: 'page', when: 'after', page: html(504) },
  'a reset before the purchase': { kind: 'reset', when: 'before' },
};

/** The responses of a gateway in place of those of the service. */
const pages: Readonly<Record<string, Page>> = {
  'a redirect (301)': html(301, { location: 'https://elsewhere.test/' }),
  'a redirect (302)': html(302, { location: 'https://elsewhere.test/login' }),
  'a redirect (307)': html(307, { location: 'https://elsewhere.test/' }),
  'a 400 page': html(400),
  'a 401 page': html(401),
  'a 403 page': html(403),
  'a 404 page': html(404),
  'a 408 page': html(408),
  'a 409 page': html(409),
  'a 413 page': html(413),
  'a 422 page': html(422),
  'a 429 page': html(429, { 'retry-after': '1' }),
  'a 502 page': html(502),
  'a 503 page': html(503, { 'retry-after': '1' }),
  'a page with status 200': html(200),
  'nothing with status 200': { status: 200, headers: {}, body: '' },
  'half an envelope': json(200, '{"status":"success","requestID":"0192f7a4-5d0e","mess'),
  'JSON of something else': json(200, '{"ok":true}'),
  'JSON of something else with status 404': json(404, '{"error":"no route"}'),
  'JSON that is nearly an envelope': json(400, '{"status":"error","message":"blocked","data":null}'),
};

const pass: Fate = { kind: 'pass' };

/** A kind of broken network by its name. */
export type Kind = readonly [string, readonly Fate[]];

/** Each loss, followed by each page on the second attempt, on the third, or on every later one. */
export const lossesThenPages: readonly Kind[] = Object.entries(losses).flatMap(([loss, lost]) =>
  Object.entries(pages).flatMap(([name, page]) => {
    const pageBefore: Fate = { kind: 'page', when: 'before', page };
    return [
      [`${loss}, then ${name}`, [lost, pageBefore, pass]],
      [`${loss}, twice, then ${name}`, [lost, lost, pageBefore]],
      [`${loss}, then ${name} on every later attempt`, [lost, pageBefore, pageBefore, pageBefore, pageBefore]],
    ] as const;
  }),
);

/** The service carries out the first attempt, but the gateway replaces its response. Later attempts are not disturbed. */
export const pagesAfterPurchase: readonly Kind[] = Object.entries(pages).map(([name, page]) => [
  `${name} after the purchase`,
  [{ kind: 'page', when: 'after', page }],
]);

/** No response comes, so that only a timeout ends the attempt. */
export const silence: Kind = ['no response after the purchase', [{ kind: 'hang', when: 'after' }]];
