/** Bare Fastify: two routes with responses of the same size as the service's. Prints its address. */
import { readFileSync } from 'node:fs';

import { fastify } from 'fastify';

const { read, purchase }: { read: string; purchase: string } = JSON.parse(readFileSync(0, 'utf8'));
const app = fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.get('/vm/list/hosts', (_request, reply) => reply.type('application/json; charset=utf-8').send(read));
app.put('/vm/create', (_request, reply) => reply.type('application/json; charset=utf-8').send(purchase));
process.stdout.write(`${JSON.stringify({ baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }) })}\n`);
