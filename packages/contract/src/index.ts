export { DocumentError, parseDocument, type OpenApiDocument } from './document.ts';
export { fillPath, hasPathParameters, pathParameters, pathPattern } from './path-template.ts';
export { joinPointer, lastToken, parentPointer, pointerTokens, valueAt } from './pointer.ts';
export { readForm, writeForm, type FormReading, type TakesForm } from './form.ts';
export type { Issue } from './issues.ts';
export { createMatcher, type Match, type Matcher } from './match.ts';
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
} from './operation.ts';
export { mediaTypeName } from './media-type.ts';
export { readOperations, responseFor, surveyOperations, type OperationSurvey, type UnreadableOperation } from './operations.ts';
export { constraintsOf, ruleProvenance } from './provenance.ts';
export type { Provenance } from './provenance.ts';
export { keysOf, memberTypes } from './schema.ts';
export { MASK, maskSecrets, secretNames } from './secrets.ts';
export { createValidator, type Check, type Validator } from './validator.ts';
