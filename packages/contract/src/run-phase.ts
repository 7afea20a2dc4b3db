import { foundFields, nextPage, pathsOf } from './fill-step.ts';
import type { Run } from './run-state.ts';
import { sendStep } from './send-step.ts';
import { bodyOf, type Step } from './step.ts';

/**
 * Sends the steps of a phase. A step whose identifiers are not known yet waits for the answers of the others.
 * @returns the steps that could not be sent
 */
export async function runPhase(run: Run, steps: readonly Step[]): Promise<readonly Step[]> {
  let waiting = [...steps];
  while (waiting.length > 0) {
    const later: Step[] = [];
    for (const step of waiting) if (!(await runStep(run, step))) later.push(step);
    if (later.length === waiting.length) break;
    waiting = later;
  }
  for (const step of waiting) {
    if (step.purpose === 'call' || step.purpose === 'remove' || step.purpose === 'undo')
      run.reasons.set(step.operation.id, reasonNotSent(step));
  }
  return waiting;
}

/** @returns whether the step had all that it needed */
async function runStep(run: Run, step: Step): Promise<boolean> {
  const found = foundFields(run, step);
  const { onlyAfter } = step;
  const paths = pathsOf(run, step).filter((path) => onlyAfter === undefined || run.cleaner.didTo(onlyAfter, path));
  if (found === undefined || paths.length === 0) return false;
  const page = nextPage(run, step);
  // The first page was the last one.
  if (page === undefined) return true;
  for (const path of paths.slice(0, step.times)) {
    const times = step.purpose === 'repeat' ? step.times : 1;
    for (let time = 0; time < times; time++) {
      const body = bodyOf(step, { ...found, ...(step.next?.in === 'form' ? page : {}) });
      if (!(await sendStep(run, step, { path, body, query: step.next?.in === 'query' ? page : undefined }))) return true;
    }
  }
  return true;
}

function reasonNotSent({ operation, path, form, onlyAfter }: Step): string {
  if (onlyAfter !== undefined) return `${onlyAfter} did nothing that could be undone`;
  if (path === 'own') return `this run made nothing that it may be used on; name something with --only ${operation.id}=IDENTIFIER`;
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
  return `no answer named a value for ${[...(path === 'found' ? names : []), ...Object.values(form?.found ?? {})].join(' and ')}`;
}
