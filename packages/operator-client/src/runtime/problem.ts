import type { Problem, ValidationProblem } from '../generated/types.gen.ts';
import type { Answer } from './client.ts';

/** A request that was not carried out, as an error to be thrown. */
export class OperatorProblem extends Error {
  override readonly name = 'OperatorProblem';
  /** The problem that the service returned (RFC 9457). It has `errors` when the body broke rules. */
  readonly problem: Problem | ValidationProblem;

  constructor(problem: Problem | ValidationProblem) {
    const rules = 'errors' in problem ? problem.errors.map(({ pointer, detail }) => `${pointer} ${detail}`) : [];
    super([`${problem.title} (${problem.status}): ${problem.detail}`, ...rules].join('\n'));
    this.problem = problem;
  }
}

/**
 * The data of a good answer.
 *
 * @throws OperatorProblem when the request was not carried out.
 */
export async function orThrow<TData>(answer: Promise<Answer<TData, Problem | ValidationProblem>>): Promise<TData> {
  const { data, error } = await answer;
  if (error !== undefined) throw new OperatorProblem(error);
  return data;
}

/** Replaces the problem of a response that has none: a gateway refused the request, not the service. */
export function problemWithoutBody({ status, statusText }: Response): Problem {
  return {
    type: 'about:blank',
    title: statusText || 'No problem was described',
    status,
    detail: `The response has status ${status} and no problem in it, so it is not from the service. Check the gateways between you and the service.`,
    instance: 'about:blank',
  };
}
