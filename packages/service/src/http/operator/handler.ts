import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { recordChange } from '../../operator/access/record-change.ts';
import { performOperator } from '../../operator/operation.ts';
import type { OperatorCall, OperatorCaller, OperatorId, OperatorOperation, Scope } from '../../operator/operation.ts';
import { OperatorProblem, problemBody } from '../../operator/problem.ts';
import { operatorTable } from '../../operator/table.ts';
import { versionOf } from '../../operator/version.ts';
import type { Db } from '../../store/store.ts';
import { jsonInTurns } from '../../store/turns.ts';
import { clientAddressOf } from '../shared/client-address.ts';
import type { HttpContext } from '../shared/context.ts';
import { sendText } from '../shared/server.ts';
import { createWindowCounter } from '../shared/window-limit.ts';
import type { CountEvent, WindowLimit } from '../shared/window-limit.ts';
import { operatorApi } from './api.ts';
import type { OperatorApi } from './api.ts';
import type { AuthenticateOperator } from './authenticate.ts';
import { assertBody, assertPath, assertQuery, readBody, readParameters } from './request.ts';
import { sessionHeaders, sessionOf } from './session.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the request to the operator API. Null before authentication. */
    operatorCaller: OperatorCaller | null;
  }
  interface FastifyContextConfig {
    /** The operation of the operator API that the route carries out. */
    operator?: OperatorApi;
  }
}

/** Content type of every problem. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The members of a Fastify route besides its method and URL. */
export interface OperatorRoute {
  readonly config: { readonly operator: OperatorApi };
  onRequest(request: FastifyRequest): Promise<void>;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export function operatorRoute<Id extends OperatorId>(
  api: OperatorApi<Id>,
  context: HttpContext,
  authenticate: AuthenticateOperator,
): OperatorRoute {
  const assertScope = scopeGuard(authenticate, api.scope, api.forVerifiers);
  const countRefusal = createWindowCounter(context.runtime.store.sharing.windows, 'refused operations');
  return {
    config: { operator: api },
    async onRequest(request) {
      await context.assertClockRight();
      try {
        await assertScope(request);
      } catch (error) {
        await recordRefusal({ api, context, request, countRefusal }, error);
        throw error;
      }
      if (api.sandboxOnly && context.runtime.mode === 'live') {
        throw new OperatorProblem('sandbox-only', 'This service is live, and its clock and data are real. Send the request to a sandbox.');
      }
    },
    async handler(request, reply) {
      const body = await respond(api, context, request);
      reply.headers(sessionHeaders(api.id, context, request));
      if (body === undefined) return reply.code(api.status).send();
      if (api.isVersioned) reply.header('etag', versionOf(body));
      reply.code(api.status).type(`${api.mediaType}; charset=utf-8`);
      return body instanceof Readable ? reply.send(body) : sendText(reply, await jsonInTurns(body));
    },
  };
}

/** Refusals of a holder that leave a record. Further ones of the minute leave none, so that a token cannot fill the audit. */
const RECORDED_REFUSALS: WindowLimit = { max: 10, windowMs: 60_000 };

interface RefusedCall {
  readonly api: OperatorApi;
  readonly context: HttpContext;
  readonly request: FastifyRequest;
  readonly countRefusal: CountEvent;
}

/** Records that a token was used for an operation that it does not allow. */
async function recordRefusal({ api: { id }, context, request, countRefusal }: RefusedCall, error: unknown): Promise<void> {
  const { runtime, sandbox } = context;
  const { operatorCaller: caller, params } = request;
  if (caller === null || !(error instanceof OperatorProblem)) return;
  if ((await countRefusal(caller.id, RECORDED_REFUSALS)) !== undefined) return;
  const call = {
    runtime,
    sandbox,
    caller,
    operationId: id,
    address: clientAddressOf(request),
    requestId: request.id,
    path: Object(params),
  };
  await runtime.store.commit(({ db }) => recordChange(db, call, { before: null, after: { refused: error.message } }));
}

/**
 * Admits tokens with a scope.
 *
 * @returns A check that throws OperatorProblem 401 without a valid token, 403 for one without the scope, 429 after too many failures.
 */
export function scopeGuard(
  authenticate: AuthenticateOperator,
  scope: Scope,
  forVerifiers = false,
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const caller = await authenticate(credentialsOf(request));
    request.operatorCaller = caller;
    const { scopes } = caller;
    if (scopes === null ? forVerifiers : scopes.includes(scope) || scopes.includes('admin')) return;
    if (scopes !== null) {
      throw new OperatorProblem(
        'forbidden',
        `This operation needs the scope ${scope}, and the token has ${scopes.join(' and ')}. Use a token with this scope.`,
      );
    }
    throw new OperatorProblem('forbidden', 'This token belongs to a third party and allows only POST /otp/verify. Use an operator token.');
  };
}

function credentialsOf(request: FastifyRequest) {
  return {
    authorization: request.headers.authorization,
    address: clientAddressOf(request),
    session: sessionOf(request),
    signsIn: request.routeOptions.config.operator?.id === 'createSession',
  };
}

async function respond<Id extends OperatorId>(api: OperatorApi<Id>, { runtime, sandbox }: HttpContext, request: FastifyRequest) {
  const { operatorCaller: caller } = request;
  if (caller === null) throw new Error('A route was reached without authentication.');
  const path = readParameters(api, 'path', request.params);
  const query = readParameters(api, 'query', request.query);
  const body = readBody(api, request.body);
  assertPath<Id>(api, path);
  assertQuery<Id>(api, query);
  assertBody<Id>(api, body);
  // Another instance may have just advanced the clock.
  if (runtime.mode === 'sandbox') await sandbox.refresh();
  const call = {
    runtime,
    sandbox,
    caller,
    operationId: api.id,
    address: clientAddressOf(request),
    requestId: request.id,
    path,
    query,
    body,
    now: runtime.ports.clock.now(),
    expected: undefined,
  };
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  const read = api.versionedBy && readerOf(api.versionedBy, call);
  const mayCreate = api.operation.responses['404'] === undefined;
  const isConditional = ifMatch !== undefined || ifNoneMatch !== undefined;
  const expected = isConditional && read ? { ifMatch, ifNoneMatch, read: mayCreate ? (db: Db) => foundBy(read, db) : read } : undefined;
  return performOperator(operatorTable[api.id], { ...call, expected });
}

async function foundBy(read: (db: Db) => Promise<unknown>, db: Db): Promise<unknown> {
  try {
    return await read(db);
  } catch (error) {
    if (error instanceof OperatorProblem && error.kind === 'not-found') return undefined;
    throw error;
  }
}

/** Reads a resource as the operation that returns it does. */
function readerOf<Id extends OperatorId>(
  id: Id,
  call: Omit<OperatorCall<Id>, 'path' | 'query' | 'body'> & { readonly path: object },
): (db: Db) => Promise<unknown> {
  const operation: OperatorOperation<Id> = operatorTable[id];
  if (operation.kind !== 'read') throw new Error(`The operation ${id} does not only read.`);
  const api = operatorApi.find((one): one is OperatorApi<Id> => one.id === id);
  if (!api) throw new Error(`The document has no operation ${id}.`);
  const [path, query, body]: unknown[] = [call.path, {}, undefined];
  assertPath<Id>(api, path);
  assertQuery<Id>(api, query);
  assertBody<Id>(api, body);
  return (db) => operation.run(db, { ...call, path, query, body });
}

/** Sends a problem. */
export function sendProblem(reply: FastifyReply, problem: OperatorProblem): FastifyReply {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  if (problem.kind === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply.code(problem.status).type(PROBLEM_TYPE).send(problemBody(problem, reply.request.id));
}
