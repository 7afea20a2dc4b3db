/**
 * Bare Fastify: two routes with responses of the same size as the service's, which are given as JSON in the first argument. The second one
 * parses a form.
 */
import { fastify } from 'fastify';

import type { BareOptions, StartedService } from './processes.ts';

const { read, purchase }: BareOptions = JSON.parse(process.argv[2] ?? '{}');
const app = fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(String(body)))),
);
app.get('/vm/list/hosts', (_request, reply) => reply.type('application/json; charset=utf-8').send(read));
app.put('/vm/create', (_request, reply) => reply.type('application/json; charset=utf-8').send(purchase));
process.once('SIGTERM', () => process.exit(0));
const started: StartedService = { baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }), apiKeys: [], scarceKey: '' };
process.send?.(started);
