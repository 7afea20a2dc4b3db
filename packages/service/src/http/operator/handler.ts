/** One operation of the operator's document as a route. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { OPERATOR, performOperator } from '../../operator/operation.ts';
import type { OperatorContext, OperatorId } from '../../operator/operation.ts';
import { OperatorProblem, problemBody } from '../../operator/problem.ts';
import { operatorTable } from '../../operator/table.ts';
import type { OperatorApi } from './api.ts';
import type { OperatorCaller, Presented } from './authenticate.ts';
import { assertBody, assertPath, assertQuery, readBody, readParameters } from './request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling the operator API; null until the token was found. */
    operatorCaller: OperatorCaller | null;
  }
  interface FastifyContextConfig {
    /** The operation of the operator's document that the route carries out. */
    operator?: OperatorApi;
  }
}

/** Content type of every problem. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** What routes of the operator share. */
export interface OperatorRouting extends OperatorContext {
  authenticate(presented: Presented): Promise<OperatorCaller>;
}

/** What Fastify needs of a route besides its method and path. */
export interface OperatorHandling {
  readonly config: { readonly operator: OperatorApi };
  onRequest(request: FastifyRequest): Promise<void>;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export function operatorHandling<Id extends OperatorId>(api: OperatorApi<Id>, routing: OperatorRouting): OperatorHandling {
  return {
    config: { operator: api },
    async onRequest(request) {
      if (api.forVerifiers) request.operatorCaller = await callerOf(routing, request);
      else await assertOperator(routing, request);
      if (api.sandboxOnly && routing.mode === 'live') {
        throw new OperatorProblem('sandbox-only', 'This service is live, and its clock and data are real. Send the request to a sandbox.');
      }
    },
    async handler(request, reply) {
      const answer = await carryOut(api, routing, request);
      if (answer === undefined) return reply.code(api.status).send();
      return reply.code(api.status).type('application/json; charset=utf-8').send(JSON.stringify(answer));
    },
  };
}

/** @throws OperatorProblem 401 without a good token, 403 with that of a third party, 429 after too many bad ones. */
export async function assertOperator(routing: Pick<OperatorRouting, 'authenticate'>, request: FastifyRequest): Promise<void> {
  request.operatorCaller = await callerOf(routing, request);
  if (request.operatorCaller === OPERATOR) return;
  throw new OperatorProblem('forbidden', 'This token belongs to a third party and allows only POST /otp/verify. Use the operator token.');
}

function callerOf({ authenticate }: Pick<OperatorRouting, 'authenticate'>, { headers, ip }: FastifyRequest): Promise<OperatorCaller> {
  return authenticate({ authorization: headers.authorization, address: ip });
}

async function carryOut<Id extends OperatorId>(api: OperatorApi<Id>, routing: OperatorRouting, request: FastifyRequest) {
  const { operatorCaller: caller } = request;
  if (caller === null) throw new Error('A route was reached without authentication.');
  const path = readParameters(api, 'path', request.params);
  const query = readParameters(api, 'query', request.query);
  const body = readBody(api, request.body);
  assertPath<Id>(api, path);
  assertQuery<Id>(api, query);
  assertBody<Id>(api, body);
  const { store, ports, secret, mode, vms, domains, sandbox } = routing;
  // What was just set through another node holds for whoever asks this one.
  if (mode === 'sandbox') await sandbox.refresh();
  return performOperator(operatorTable[api.id], {
    store,
    ports,
    secret,
    mode,
    vms,
    domains,
    sandbox,
    caller,
    path,
    query,
    body,
    now: ports.clock.now(),
  });
}

/** Sends a problem; where it says to try again, it says when. */
export function sendProblem(reply: FastifyReply, problem: OperatorProblem): FastifyReply {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter));
  if (problem.kind === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply.code(problem.status).type(PROBLEM_TYPE).send(problemBody(problem, reply.request.id));
}
