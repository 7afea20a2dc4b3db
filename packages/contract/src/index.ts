export { readAnswer, type Answer, type AnswerBody } from './answer.ts';
export { ANSWER_CHECKS, createJudge, type Judge } from './checks.ts';
export { DocumentError, parseDocument, type OpenApiDocument } from './document.ts';
export type { AnswerCheck, Finding, Remark, Subject, Verdict } from './finding.ts';
export { readForm, writeForm, type FormReading, type TakesForm } from './form.ts';
export type { Issue } from './issues.ts';
export { createMatcher, type Match, type Matcher } from './match.ts';
export type {
  Example,
  Form,
  FormField,
  Header,
  Link,
  MediaType,
  Operation,
  OperationResponse,
  Parameter,
  ScalarKind,
  Schema,
  Security,
} from './operation.ts';
export { mediaTypeName, readOperations, responseFor } from './operations.ts';
export { guardSend, planReadOnly, RefusedRequestError, type Guard, type Plan, type Send } from './plan.ts';
export type { Provenance } from './provenance.ts';
export { runContract, TargetError, type ContractOptions, type ContractReport, type Coverage } from './run.ts';
export { MASK, maskSecrets } from './secrets.ts';
export { createValidator, type Check, type Validator } from './validator.ts';
