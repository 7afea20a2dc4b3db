import { pathParameters, surveyOperations, valueAt } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import {
  CredentialError,
  hasSecretName,
  keyInHeaders,
  variableOf,
  NO_BUDGET,
  secondsUntilRetry,
  planContract,
  runContract,
  TargetError,
  countRequests,
  describeStep,
} from '@reseller/contract/engine';
import type { Budget, GivenValues, PriceOf, Mode, ContractOptions, Plan, Report } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import { safeConsole } from '../console.ts';
import type { Console } from '../console.ts';
import { openChosenDocument, openServedDocument } from '../document.ts';
import type { LoadedDocument } from '../document.ts';
import { fileJournal } from '../file-journal.ts';
import { checksOf, loadHooks, sendWith } from '../hooks.ts';
import type { Hooks } from '../hooks.ts';
import { START_SANDBOX } from '../installation.ts';
import { OTP_RULE_NAMES } from '../one-time-codes/rules.ts';
import { assertOperator, otpPresenter, readOperator } from '../operator.ts';
import type { OperatorAccess } from '../operator.ts';
import { readKey } from '../options.ts';
import type { Arguments, Environment } from '../options.ts';
import { readPrices } from '../read-prices.ts';
import { counted } from '../render.ts';
import { resellerRules } from '../reseller.ts';
import { readAccepted, settleReport } from '../settle-report.ts';
import { makeReportFolder, writeReports } from '../write-reports.ts';
import { CHANGES_REMAIN, conclude } from './conclude.ts';
import { changeLines, confirmChanges } from './confirm-changes.ts';
import { targetFor } from './target.ts';

/** The files of a command. */
export interface FilePaths {
  readonly journal: string;
}

interface RunContext {
  readonly environment: Environment;
  readonly output: Console;
  readonly paths: FilePaths;
  readonly signal?: AbortSignal;
}

/** Calls a service and judges its responses. */
export async function runAgainst(asked: Arguments, { environment, output, paths, signal }: RunContext): Promise<number> {
  // Reads the baseline and creates the folder first, so that errors occur before the first request.
  if (asked.baseline !== undefined) await readAccepted(asked.baseline);
  if (asked.report !== undefined && !asked.plan) await makeReportFolder(asked.report);
  // A plan sends nothing. A run that changes something is about the document that its user chooses.
  const isChosen = asked.plan || asked.mode === 'full' || asked.document !== undefined || asked.extension;
  const loaded = (isChosen ? undefined : await openServedDocument(asked.target)) ?? (await openChosenDocument(asked));
  const credentials = { ...credentialsIn(environment, loaded.document), ...asked.credentials };
  const args = { ...asked, credentials, target: targetFor(asked, loaded.document) };
  rejectUnknown(args, loaded);
  const { given } = args;
  // Of several keys, each must be given for its scheme.
  const single = surveyOperations(loaded.document).operations.flatMap(({ security }) => (security?.keys.length === 1 ? security.keys : []));
  const needsKey = single.some((key) => credentials[key.scheme] === undefined && keyInHeaders(key, given.headers) === undefined);
  // A plan sends no requests, so it needs neither key nor token.
  const apiKey =
    !needsKey || Object.keys(credentials).length > 0
      ? (args.apiKey ?? '')
      : await (args.plan ? readKey(args, environment).catch(() => 'no-key') : readKey(args, environment));
  const operator = args.plan ? withoutToken(args) : await readOperator(args, environment);
  const secrets = [...(args.plan ? [] : [apiKey, operator?.token ?? '']), ...secretValues(args.given), ...Object.values(credentials)];
  const safe = safeConsole(output, secrets);
  const progress = args.quiet ? { ...safe, print: () => {}, progress: () => {} } : safe;
  const hooks = args.hooks === undefined ? undefined : await loadHooks(args.hooks);
  const options = contractOptions(args, {
    onToken: (token) => secrets.push(token),
    loaded,
    apiKey,
    operator,
    hooks,
    output: progress,
    journal: paths.journal,
  });
  const plan = await planContract(options);
  if (args.plan) {
    safe.print(renderPlan(plan, args.mode, presentationLines(operator, plan)));
    return 0;
  }
  announce(progress, loaded, plan);
  const { priceOf, budget } = await confirmed(args, { options, plan, operator, output: progress });
  if (operator !== undefined) await assertOperator(operator);
  const ending = signal === undefined ? {} : { signal };
  const report = await withTargetHint(args, () => runContract({ ...options, ...ending, budget, priceOf }));
  if (signal?.aborted === true) return concludeStopped(report, safe, Number(signal.reason));
  try {
    if (report.failures.length === 0) rejectEmptyRun(report, args.document === undefined);
  } catch (error) {
    // The reports explain why nothing was checked.
    if (args.report !== undefined) await writeReports(args.report, await settleReport(report, loaded, args.baseline, args.failOn), secrets);
    throw error;
  }
  return conclude({ report, loaded, args, output: safe, secrets });
}

/** The credentials of schemes that the environment has, in the variables that the printed curl lines read. */
function credentialsIn(environment: Environment, { components }: OpenApiDocument): Readonly<Record<string, string>> {
  const schemes = Object.keys(Object(components?.['securitySchemes']));
  const values = schemes.map((scheme) => [scheme, environment[variableOf(scheme)]?.trim() ?? ''] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

/** Says what a stopped run leaves. It does not judge responses, because most operations were not called. */
function concludeStopped({ left, unfinished, traffic }: Report, output: Console, code: number): number {
  const remains =
    left.length === 0 ? ['Nothing is left behind on the account.'] : ['Left behind on the account', ...left.map((line) => `  ${line}`)];
  output.print([`The run was stopped after ${counted(traffic.length, 'request')}.`, ...remains].join('\n'));
  return unfinished.length > 0 ? CHANGES_REMAIN : code;
}

/** Lists the operations that the run cannot call, before its first request. */
function announce(output: Console, { notes }: LoadedDocument, { unsendable, withheld }: Plan): void {
  const lines = [...unsendable].map((id) => `  ${id}: ${withheld.get(id) ?? ''}`);
  const parts = [
    ...notes,
    ...(lines.length === 0 ? [] : [`${lines.length} ${lines.length === 1 ? 'operation' : 'operations'} cannot be called:`, ...lines]),
  ];
  if (parts.length > 0) output.print(`${parts.join('\n')}\n`);
}

function withoutToken({ operator: url }: Arguments): OperatorAccess | undefined {
  return url === undefined ? undefined : { url, token: '' };
}

/** The values that the user gives for headers and parameters with the names of credentials. */
function secretValues({ headers, values }: GivenValues): readonly string[] {
  return [...Object.entries(headers), ...Object.entries(values)].flatMap(([name, value]) => (hasSecretName(name) ? [value] : []));
}

interface RunInputs {
  readonly loaded: LoadedDocument;
  readonly apiKey: string;
  readonly operator: OperatorAccess | undefined;
  readonly hooks: Hooks | undefined;
  readonly output: Console;
  readonly journal: string;
  readonly onToken: (token: string) => unknown;
}

function contractOptions(args: Arguments, { onToken, loaded, apiKey, operator, hooks, output, journal }: RunInputs): ContractOptions {
  const { target, mode, only, also, except, seed, rate, requests, given, credentials } = args;
  return {
    document: loaded.document,
    target,
    mode,
    only,
    also,
    except,
    notes: loaded.notes,
    seed,
    given,
    credentials,
    onToken,
    ...(hooks === undefined ? {} : { send: sendWith(hooks) }),
    ...(apiKey === '' ? {} : { apiKey }),
    ...(rate === undefined ? {} : { rate }),
    ...(requests === undefined ? {} : { requests }),
    secrets: [...secretValues(given), ...(operator === undefined ? [] : [operator.token])],
    journal: fileJournal(journal),
    extensions: [
      ...resellerRules(loaded.document, operator === undefined ? undefined : otpPresenter(operator)),
      ...(hooks === undefined ? [] : checksOf(hooks)),
    ],
    onRequest: ({ done, planned, step }) => output.progress(`${done}/${planned}  calling  ${step}`, true),
    onProgress: ({ done, planned, step, status }) => output.progress(`${done}/${planned}  ${status ?? 'no response'}  ${step}`),
  };
}

/** In full mode, reads the prices and announces changes and costs. A read-only run has no budget. */
async function confirmed(
  args: Arguments,
  { options, plan, operator, output }: { readonly options: ContractOptions; readonly plan: Plan } & Pick<RunInputs, 'operator' | 'output'>,
): Promise<{ readonly priceOf: PriceOf; readonly budget: Budget }> {
  if (args.mode !== 'full') return { priceOf: () => undefined, budget: NO_BUDGET };
  const priceOf = await withTargetHint(args, () => readPrices(options, plan));
  const { text, budget } = confirmChanges(args, { plan, hasCosts: marksCosts(options.document) }, priceOf);
  output.print([text, ...presentationLines(operator, plan)].join('\n'));
  return { priceOf, budget };
}

async function withTargetHint<Result>({ document }: Arguments, what: () => Promise<Result>): Promise<Result> {
  try {
    return await what();
  } catch (error) {
    if (error instanceof CredentialError) throw new CannotRunError(error.message, { cause: error });
    if (!(error instanceof TargetError)) throw error;
    const start = document === undefined ? ` (${START_SANDBOX} for the sandbox)` : '';
    const hint = `Start the service there${start}, or give another address with --target.`;
    throw new CannotRunError(`${error.message}. ${hint}`, { cause: error });
  }
}

function rejectUnknown({ only, also, except, mode, credentials }: Arguments, { document }: LoadedDocument): void {
  const { operations, unreadable } = surveyOperations(document);
  const known = new Set([...operations, ...unreadable].map(({ id }) => id));
  const schemes = Object.keys(Object(document.components?.['securitySchemes']));
  const odd = Object.keys(credentials).find((scheme) => !schemes.includes(scheme));
  if (odd !== undefined) throw new CannotRunError(`The document has no security scheme ${odd}. It has ${schemes.join(', ') || 'none'}.`);
  const unknown = [...only.keys(), ...also.keys(), ...except].filter((id) => !known.has(id));
  if (unknown.length > 0) throw new CannotRunError(`The document has no operation ${unknown.join(', ')}. It has ${[...known].join(', ')}.`);
  for (const { id, path, readOnly } of operations) {
    const parameters = pathParameters(path);
    for (const value of [only.get(id) ?? [], also.get(id) ?? []].flat()) {
      if (parameters.length === 1 || (parameters.length > 1 && value.split('/').length === parameters.length)) continue;
      const what =
        parameters.length === 0
          ? `${id} has no path parameter. Leave out =${value}.`
          : `${id} has ${parameters.length} path parameters. Give all of them: ${id}=${parameters.map((name) => name.toUpperCase()).join('/')}.`;
      throw new CannotRunError(`${id}=${value} has no effect: ${what}`);
    }
    if (mode === 'read-only' && !readOnly && also.has(id))
      throw new CannotRunError(`--also ${id} has no effect, because ${id} changes something and the run is read-only. Add --mode full.`);
  }
}

/** Whether a document says which of its operations cost money. */
function marksCosts(document: OpenApiDocument): boolean {
  return surveyOperations(document).operations.some(({ pointer }) => Object(valueAt(document, pointer))['x-billable'] !== undefined);
}

/** Describes how often one-time codes are presented. The plan has no steps for it, because they are not sent to the target. */
function presentationLines(operator: OperatorAccess | undefined, { steps }: Plan): readonly string[] {
  if (operator === undefined || !steps.some(({ purpose }) => purpose === 'repeat')) return [];
  return [`  Presents a one-time code ${OTP_RULE_NAMES.length} times at ${operator.url.href} (POST /otp/verify), which uses it up.`];
}

/** Lists every request of the plan, why the run may make its changes, and the operations that are not called. */
function renderPlan(plan: Plan, mode: Mode, more: readonly string[]): string {
  const { steps, withheld } = plan;
  const requests = countRequests(steps, mode);
  const lines = steps.map((step) => `  ${step.effect.padEnd(7)}  ${describeStep(step)}`);
  const rest = [...withheld].map(([operation, reason]) => `  ${operation}: ${reason}`);
  const changes = changeLines(plan);
  return [
    `At most ${requests} requests; none has been sent`,
    ...(steps.some(({ effect }) => effect === 'costs')
      ? ['To see the prices, run the command without --plan and without --yes. It buys nothing.']
      : []),
    ...lines,
    ...more,
    ...(changes.length === 0 ? [] : ['', 'Operations that change something, and why the run may use them', ...changes]),
    ...(rest.length === 0 ? [] : ['', 'Not called', ...rest]),
  ].join('\n');
}

/** The number of operations for each reason not to call them, the most frequent first. */
function reasonsIn(coverage: Report['coverage']): string {
  const counts = Map.groupBy(coverage, ({ reason }) => reason);
  const most = [...counts].toSorted(([, one], [, other]) => other.length - one.length);
  return most.map(([reason, rows]) => `${counted(rows.length, 'operation')}: ${reason}.`).join(' ');
}

/** Names the rate limit as the reason, with the time that the service asks for. */
function rateLimitText(target: string, traffic: Report['traffic']): string {
  const waits = traffic.flatMap(({ status, responseHeaders }) => (status === 429 ? (secondsUntilRetry(responseHeaders) ?? []) : []));
  const when =
    waits.length === 0 ? 'It does not say how long to wait.' : `It asks to wait ${counted(Math.max(...waits), 'second')} (Retry-After).`;
  return `The rate limit of ${target} refuses the requests (429), so nothing was checked. ${when} Run the command again after that, or with a lower --rate.`;
}

/** Rejects a run in which no operation succeeded, because it checked nothing. */
function rejectEmptyRun({ coverage, findings, target, traffic }: Report, isOurs: boolean): void {
  if (traffic.length > 0 && traffic.every(({ contentType }) => contentType === 'text/html'))
    throw new CannotRunError(
      `${target} responds to every request with an HTML page, so it does not look like an API. Give the base address of the API as --target, not that of its website.`,
    );
  if (coverage.some((row) => row.verified) || findings.some((finding) => finding.verdict === 'violation')) return;
  const statuses = [...new Set(coverage.flatMap((row) => row.statuses.filter(({ times }) => times > 0).map(({ status }) => status)))];
  if (statuses.length === 0) {
    throw new CannotRunError(
      `The document has no operation that this run may call, so nothing was checked. ${reasonsIn(coverage)} Run with --plan to see why each operation is left out, and with --mode full --yes to call those that change something.`,
    );
  }
  if (statuses.includes('429')) throw new CannotRunError(rateLimitText(target, traffic));
  if (
    statuses.every((status) => ['401', '403', '404', '405'].includes(status)) &&
    statuses.some((status) => ['401', '403'].includes(status))
  )
    throw new CannotRunError(
      `${target} refuses the API key (${statuses.join(', ')}). Check CONTRACT_API_KEY${isOurs ? ', or for a sandbox that was reset, demo-api-key in its data folder' : ''}.`,
    );
  throw new CannotRunError(
    `No operation at ${target} responded with success (only ${statuses.join(', ')}), so nothing was checked. Give the base address of the API as --target, such as https://api.example.com/v1, without the path of a page.`,
  );
}
