import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import type { Validator } from '../document/validator.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { secretsOf } from '../exchange/mask-exchange.ts';
import { scrubber } from '../exchange/observe.ts';
import { randomTextsOnce } from '../exchange/secret-values.ts';
import { recordExchange, withinLimits } from '../exchange/traffic.ts';
import type { RecordedExchange } from '../exchange/traffic.ts';
import type { Check } from '../judge/check.ts';
import { coverOperation, uncovered } from '../judge/coverage.ts';
import type { Coverage } from '../judge/coverage.ts';
import { createFailures } from '../judge/failures.ts';
import type { Failure, Failures } from '../judge/failures.ts';
import type { Finding } from '../judge/finding.ts';
import { groupFindings } from '../judge/group.ts';
import { createJudge } from '../judge/judge.ts';
import type { Replay, Story } from '../judge/replay.ts';
import { basePath } from '../run/guard.ts';
import { showMoney } from '../run/money.ts';
import type { Mode } from '../run/planning.ts';
import type { Budget } from '../run/price.ts';

/** The result of a run as JSON, from which all other reports are made. Secrets are masked in every text. */
export interface Report {
  readonly format: 1;
  readonly document: { readonly title: string; readonly version: string };
  readonly target: string;
  readonly mode: Mode | 'recorded';
  readonly seed: number;
  /** ISO 8601. */
  readonly at: string;
  readonly milliseconds: number;
  /** The checks of the run, with their explanations. */
  readonly checks: readonly CheckText[];
  readonly findings: readonly Finding[];
  readonly coverage: readonly Coverage[];
  /** Readable descriptions of the changes that remain on the account. */
  readonly left: readonly string[];
  /** The remaining changes that the run should have undone, each with the command that undoes it. If there are any, the run fails. */
  readonly unfinished: readonly string[];
  /** Notes about the document, such as ignored keywords. */
  readonly notes: readonly string[];
  /** The errors because of which a part of the run was not sent, judged or recorded. */
  readonly failures: readonly Failure[];
  /** The sum of known prices in decimal notation, and the number of purchases with an unknown price. */
  readonly spent: { readonly amount: string; readonly unknown: number };
  readonly traffic: readonly RecordedExchange[];
}

/** The texts of a check. */
export type CheckText = Pick<Check, 'id' | 'claim' | 'judges' | 'client'>;

export interface ReportParts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly exchanges: readonly Exchange[];
  /** The resources that the exchanges made. */
  readonly made?: Story['made'];
  /** Recorded exchanges that match no operation of the document. */
  readonly foreign: readonly Exchange[];
  /** Operations that cannot be used, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
  readonly checks: readonly Check[];
  /** The operations that are judged; undefined for all. */
  readonly wanted?: ReadonlySet<string> | undefined;
  readonly reasons: ReadonlyMap<string, string>;
  readonly left: readonly string[];
  readonly unfinished: readonly string[];
  readonly spent: Budget;
  readonly mode: Report['mode'];
  readonly seed: number;
  readonly target: URL;
  /** Secrets that no report may contain, such as the API key. */
  readonly secrets: readonly string[];
  readonly milliseconds: number;
  /** The errors of the run until now. Default: none. */
  readonly failures?: Failures;
}

/** Judges all responses of a run and builds the report. */
export function buildReport(parts: ReportParts): Report {
  const { document, operations, validator, checks, foreign, unusable, failures = createFailures() } = parts;
  const reasons = new Map([...parts.reasons, ...unusable]);
  const secrets: string[] = parts.secrets.flatMap(formsOfKey);
  // Without its secrets, a response could not be shown.
  const exchanges = parts.exchanges.filter((exchange) =>
    failures.attempt(
      `the secrets of a response of ${exchange.operation.id}`,
      () => secrets.push(...secretsOf(document, exchange)) >= 0,
      false,
    ),
  );
  const usable = operations.filter(({ id }) => !unusable.has(id));
  const judge = createJudge({ document, operations: usable, validator, checks, exchanges, failures });
  function isWanted({ operation }: Exchange): boolean {
    return parts.wanted?.has(operation.id) !== false;
  }
  const judged = [
    ...exchanges.filter(isWanted).flatMap((exchange) => judge.judgeResponse(exchange)),
    ...judge.judgeRun({ exchanges, foreign }).filter(({ exchange }) => isWanted(exchange)),
  ];
  const story = { document, operations, exchanges, made: parts.made ?? new Map(), base: basePath(parts.target) };
  const findings = groupFindings(story, judged, failures);
  const unwanted = operations.filter(({ id }) => parts.wanted?.has(id) === false);
  const left = new Map([...unwanted.map(({ id }) => [id, reasons.get(id) ?? ''] as const), ...unusable]);
  const scrub = scrubber([...secrets, ...randomTextsOnce(exchanges)]);
  const coverage = { document, exchanges: exchanges.filter(isWanted), findings, reasons, checks, left };
  const report: Report = {
    format: 1,
    document: { title: document.info.title, version: document.info.version },
    target: parts.target.href,
    mode: parts.mode,
    seed: parts.seed,
    at: new Date().toISOString(),
    milliseconds: Math.round(parts.milliseconds),
    checks: checks.map(({ id, claim, judges, client }) => ({ id, claim, judges, client })),
    findings,
    coverage: operations.map((operation) =>
      failures.attempt(
        `the coverage of ${operation.id}`,
        () => coverOperation(coverage, operation),
        uncovered(operation, 'its coverage could not be determined'),
      ),
    ),
    left: parts.left,
    unfinished: parts.unfinished,
    notes: parts.notes,
    spent: { amount: showMoney(parts.spent.amount), unknown: parts.spent.unknown },
    traffic: withinLimits(
      exchanges.flatMap((exchange) =>
        failures.attempt(`the record of a response of ${exchange.operation.id}`, () => [recordExchange(document, exchange)], []),
      ),
    ),
    failures: [],
  };
  return scrubbed({ ...report, failures: failures.list() }, scrub);
}

/** A key, and its encodings for basic authentication. */
function formsOfKey(key: string): readonly string[] {
  return [key, Buffer.from(key).toString('base64'), Buffer.from(`${key}:`).toString('base64')];
}

function scrubbed(report: Report, scrub: (text: string) => string): Report {
  return {
    ...report,
    findings: report.findings.map((finding) => scrubFinding(finding, scrub)),
    coverage: report.coverage.map((row) => ({ ...row, reason: scrub(row.reason) })),
    left: report.left.map(scrub),
    unfinished: report.unfinished.map(scrub),
    failures: report.failures.map((failure) => ({ ...failure, error: scrub(failure.error) })),
    traffic: report.traffic.map((exchange) => ({
      ...exchange,
      url: scrub(exchange.url),
      requestHeaders: scrubHeaders(exchange.requestHeaders, scrub),
      requestBody: exchange.requestBody === undefined ? undefined : scrub(exchange.requestBody),
      responseHeaders: scrubHeaders(exchange.responseHeaders, scrub),
      responseBody: scrub(exchange.responseBody),
    })),
  };
}

function scrubFinding(finding: Finding, scrub: (text: string) => string): Finding {
  const { message, expected, observed, curl, client, samples, proposals, touches, replay } = finding;
  return {
    ...finding,
    message: scrub(message),
    expected: scrub(expected),
    observed: scrub(observed),
    curl: scrub(curl),
    client: scrub(client),
    touches: touches.map((touch) => ({ ...touch, curl: scrub(touch.curl) })),
    samples: samples.map((sample) => ({ ...sample, pointer: scrub(sample.pointer), observed: scrub(sample.observed) })),
    replay: typeof replay === 'string' ? replay : scrubReplay(replay, scrub),
    // A proposal must not write a secret into the document.
    proposals: proposals.filter((proposal) => scrub(JSON.stringify(proposal)) === JSON.stringify(proposal)),
  };
}

function scrubReplay(replay: Replay, scrub: (text: string) => string): Replay {
  const text = JSON.stringify(replay);
  return scrub(text) === text ? replay : JSON.parse(scrub(text));
}

function scrubHeaders(headers: Readonly<Record<string, string>>, scrub: (text: string) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, scrub(value)]));
}
