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
} from './exchange.ts';
export type { Check, Defect, FakeExchange, FakeResponse } from './check.ts';
export { CHECKS } from './checks.ts';
export type { CheckCoverage, Coverage, FieldCoverage, StatusCoverage } from './coverage.ts';
export { VERDICTS, type Finding, type Remark, type RunRemark, type Sample, type Touched, type Verdict } from './finding.ts';
export { basePath, createGuard, RefusedRequestError, type Guard, type Send } from './guard.ts';
export type { Journal, JournalEntry } from './journal.ts';
export { discoverPaths } from './discover.ts';
export { attachCredential, credentialOf, credentialText } from './credential.ts';
export type { Mode, NamedOperations, Plan } from './plan.ts';
export type { Report } from './report.ts';
export { sendReads, type ReadCall } from './send-reads.ts';
export { moneyOf, showMoney, type Money } from './money.ts';
export { NO_BUDGET, worthOf, type Budget, type Price, type PriceOf } from './price.ts';
export { TargetError, type ContractOptions, type Progress } from './contract-options.ts';
export type { Extension } from './extension.ts';
export { planContract, runContract } from './run.ts';
export { describeStep, type Step } from './step.ts';
export { readEnvelope } from './envelope.ts';
export { examplePaths } from './example-paths.ts';
export { pagingOf } from './paging.ts';
export { isCredential, issuesOfText } from './parameters.ts';
export { tamperEnvelope, withMembers } from './tamper.ts';
export { replaced } from './replace.ts';
export { isUndo, undoOf } from './undo.ts';
export {
  BaselineError,
  failures,
  isFailed,
  readBaseline,
  settle,
  type Acceptance,
  type SettledFinding,
  type SettledReport,
} from './baseline.ts';
export { createRecorder, HarError, readHar, type Recorder, type RawExchange } from './recorded.ts';
export { toHar } from './report/har.ts';
export { toHtml } from './report/html.ts';
export { toJunit } from './report/junit.ts';
export { toMarkdown } from './report/markdown.ts';
export { toSarif } from './report/sarif.ts';
export { summarise, summaryLine, type Summary } from './report/summary.ts';
export { editedFiles, placeFindings, type PlacedFinding } from './source/place-findings.ts';
export { mapSources, type SourceMap } from './source/source-map.ts';
export { IMPACTS, type Change, type Impact } from './diff/change.ts';
export { diffDocuments } from './diff/diff-documents.ts';
export { walkDescribed } from './place.ts';
export { rootView, type View } from './view.ts';
export { countRequests, MAX_READ_ONLY_REQUESTS } from './plan.ts';
export { upgradeDocument, type UpgradedDocument } from './upgrade.ts';
export { readBody, writeBody } from './body.ts';
export { sampleOf } from './sample.ts';
export { checkPage, checkIndex } from './check-page.ts';
