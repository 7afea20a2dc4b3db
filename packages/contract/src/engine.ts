/** The engine: calls a service, or reads recorded traffic, and judges the responses. Services load only `index.ts`. */
export {
  isSuccess,
  jsonOf,
  jsonValue,
  readExchange,
  type Exchange,
  type Credential,
  type Purpose,
  type RawResponse,
  type SentRequest,
} from './exchange/exchange.ts';
export { isObject } from './document/json.ts';
export { shapeOf } from './exchange/observe.ts';
export { MIN_SECRET_LENGTH } from './exchange/secret-values.ts';
export { returnsJson } from './judge/applies.ts';
export type { Check } from './judge/check.ts';
export { namedValues, NOTHING_GIVEN, type GivenValues } from './document/parameters.ts';
export { hasSecretName } from './exchange/mask-exchange.ts';
export { CHECKS, checksWith } from './judge/checks.ts';
export { pageOverlapCheck } from './judge/checks/page-overlap.ts';
export type { CheckCoverage, Coverage, FieldCoverage, StatusCoverage } from './judge/coverage.ts';
export { failureText, type Failure } from './judge/failures.ts';
export { VERDICTS, type Finding, type Remark, type RunRemark, type Sample, type Touched, type Verdict } from './judge/finding.ts';
export { basePath, createGuard, RefusedRequestError, type Guard, type Send } from './run/guard.ts';
export type { Journal, JournalEntry } from './run/journal.ts';
export { discoverCreated, discoverPaths, type PathValues } from './exchange/discover.ts';
export { CredentialError } from './run/credentials.ts';
export { attachCredential, credentialOf, credentialText } from './exchange/credential.ts';
export type { Plan } from './run/plan.ts';
export type { Mode, NamedOperations } from './run/planning.ts';
export type { Report } from './report/report.ts';
export { secondsUntilRetry } from './run/send-request.ts';
export { sendReads, type ReadCall } from './run/send-reads.ts';
export { moneyOf, plainNumber, showMoney, type Money } from './run/money.ts';
export { NO_BUDGET, worthOf, type Budget, type Price, type PriceOf } from './run/price.ts';
export { TargetError, type ContractOptions, type Progress } from './run/contract-options.ts';
export type { Extension } from './run/extension.ts';
export { keyInHeaders, variableOf } from './run/credentials.ts';
export { planContract, runContract } from './run/run.ts';
export { describeStep, isChange, isProbe, type Step } from './run/step.ts';
export { readEnvelope } from './judge/envelope.ts';
export { pagingOf } from './exchange/paging.ts';
export { isCredential, issuesOfText } from './document/parameters.ts';
export { replaced } from './document/replace.ts';
export { isUndo, undoOf } from './document/creation.ts';
export {
  BaselineError,
  failures,
  isFailed,
  readBaseline,
  settle,
  type Acceptance,
  type SettledFinding,
  type SettledReport,
} from './report/baseline.ts';
export { createRecorder, HarError, readHar, type Recorder, type RawExchange } from './run/recorded.ts';
export { toHar } from './report/har.ts';
export { toJunit } from './report/junit.ts';
export { toNodeTest } from './report/node-test.ts';
export { toMarkdown } from './report/markdown.ts';
export { toSarif } from './report/sarif.ts';
export { summarise, summaryLine, type Summary } from './report/summary.ts';
export { editedFiles, placeFindings, type PlacedFinding } from './source/place-findings.ts';
export { mapSources, type SourceMap } from './source/source-map.ts';
export { IMPACTS, type Change, type Impact } from './diff/change.ts';
export { diffDocuments } from './diff/diff-documents.ts';
export { walkDescribed, type Place } from './document/place.ts';
export { rootView, type View } from './document/view.ts';
export { countRequests, MAX_READ_ONLY_REQUESTS } from './run/plan.ts';
export { upgradeDocument, type UpgradedDocument } from './document/upgrade.ts';
export { readBody, writeBody } from './form/body.ts';
export { sampleOf } from './document/sample.ts';
