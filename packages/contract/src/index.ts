export { DocumentError, parseDocument, type OpenApiDocument } from './document/document.ts';
export { errorText, hasErrorCode, isError } from './is-error.ts';
export { fillPath, hasPathParameters, pathParameters, pathPattern } from './document/path-template.ts';
export { joinPointer, lastToken, parentPointer, pointerTokens, valueAt } from './document/pointer.ts';
export { readForm, writeForm, type FormReading, type TakesForm } from './form/form.ts';
export type { Issue } from './document/issues.ts';
export { createMatcher, type Match, type Matcher } from './document/match.ts';
export type {
  Example,
  Form,
  RequestBody,
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
} from './document/operation.ts';
export { mediaTypeName } from './document/media-type.ts';
export { readOperations, responseFor, surveyOperations, type OperationSurvey, type UnreadableOperation } from './document/operations.ts';
export { repeatsOf, type Repeat } from './document/repeats.ts';
export { constraintsOf, ruleProvenance } from './document/provenance.ts';
export type { Provenance } from './document/provenance.ts';
export { keysOf, memberTypes, schemaNodes } from './document/schema.ts';
export { MASK, markedNames, maskSecrets, secretNames } from './document/secrets.ts';
export { createValidator, type ValueCheck, type Validator } from './document/validator.ts';
