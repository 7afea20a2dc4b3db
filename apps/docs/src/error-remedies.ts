/** The remedy for each type of error: the next step of a developer. The documents say when the error happens. */
export interface Remedy {
  /** The cause, without a full stop, if the table of the document only refers to another place. */
  readonly cause?: string;
  /** Markdown, in full sentences. */
  readonly remedy: string;
  /** A page that tells more, from the root of the site. */
  readonly guide: { readonly title: string; readonly path: string };
}

const FIRST_PURCHASE = { title: 'Your first purchase', path: 'guides/first-purchase' };
const WHAT_IS_MISSING = { title: 'What this API cannot do', path: 'guides/what-is-missing' };
const LOST_RESPONSES = { title: 'Lost responses', path: 'guides/lost-responses' };
const CREDIT = { title: 'The credit limit', path: 'guides/credit-limit' };
const AUTHENTICATION = { title: 'Addresses and authentication', path: 'concepts/addresses-and-authentication' };
const REQUESTS = { title: 'Requests and responses', path: 'concepts/requests-and-responses' };
const RETRIES = { title: 'Retries and idempotency keys', path: 'concepts/retries-and-idempotency-keys' };
const LIMITS = { title: 'Limits', path: 'concepts/limits' };

/** By the type of the error in the reseller API and its extension. */
export const RESELLER_REMEDIES: Readonly<Record<string, Remedy>> = {
  malformed_request: {
    remedy: 'Send the fields as `name=value` pairs, percent-encoded and joined with `&`. Put them in the body and not in the query.',
    guide: REQUESTS,
  },
  unauthorized: {
    remedy: 'Send the key in `X-SERVICE-APIKEY`, and check that it belongs to this address: live and sandbox have different keys.',
    guide: AUTHENTICATION,
  },
  credit_limit_exceeded: {
    remedy:
      'Pay open invoices, buy less, or ask the provider for a higher limit. Nothing was bought, so do not repeat the request unchanged.',
    guide: CREDIT,
  },
  spending_limit_exceeded: {
    remedy:
      'Read what the key may still spend with `GET /account/keys`. Choose less, wait until the next day or month (UTC), or ask the provider for a higher limit.',
    guide: CREDIT,
  },
  account_suspended: {
    cause: 'the provider has suspended the account, for example because invoices are overdue',
    remedy:
      'Read the invoices, pay the open ones, and ask the provider to lift the suspension. Then send the request again, with the same `Idempotency-Key`.',
    guide: CREDIT,
  },
  read_only_key: {
    remedy: 'Use a key with full access for changes. Keep the read-only key for reports and monitoring.',
    guide: AUTHENTICATION,
  },
  operation_not_allowed: {
    remedy: 'Use a key whose restrictions allow the operation, or ask the provider to change them. `GET /account/keys` lists them.',
    guide: AUTHENTICATION,
  },
  not_found: { remedy: 'Check the identifier and the path. An identifier of another account is not found either.', guide: FIRST_PURCHASE },
  method_not_allowed: { remedy: 'Send one of the methods in `Allow`.', guide: REQUESTS },
  request_timeout: {
    remedy: 'Send the whole request at once. On a slow connection, send it again with the same `Idempotency-Key`.',
    guide: LOST_RESPONSES,
  },
  wrong_state: {
    remedy: 'Read the resource again and decide by its state. The message names the state that the operation needs.',
    guide: FIRST_PURCHASE,
  },
  out_of_capacity: { remedy: 'Choose another host system, or fewer resources. Nothing was bought.', guide: FIRST_PURCHASE },
  quota_exceeded: {
    remedy:
      'Delete a VM, a handle, an SSH key, a backup or a name in reverse DNS that you no longer need. Ask the provider for a higher quota of VMs or handles.',
    guide: LIMITS,
  },
  idempotency_key_in_progress: {
    cause: 'the first request with this `Idempotency-Key` is still in progress',
    remedy: 'Wait for the first request, then send this one again with the same key. You get the response of the first.',
    guide: RETRIES,
  },
  idempotency_key_reused: {
    cause: 'an earlier request with this `Idempotency-Key` had another form',
    remedy: 'Use a new key for a new request. If you wanted to repeat the first request, send exactly its form.',
    guide: RETRIES,
  },
  precondition_failed: {
    cause: 'the price is above `max_price` (extension), or a file of the documentation does not match `If-Match` or `If-Unmodified-Since`',
    remedy: 'Read the current price or file, then send the request with that value or without the condition.',
    guide: FIRST_PURCHASE,
  },
  payload_too_large: { remedy: 'Send a shorter form. No field of any operation needs that much.', guide: LIMITS },
  uri_too_long: { remedy: 'Check the value that you put into the path.', guide: LIMITS },
  unsupported_media_type: {
    remedy: 'Send `Content-Type: application/x-www-form-urlencoded`, in UTF-8 and without compression.',
    guide: REQUESTS,
  },
  range_not_satisfiable: { remedy: 'Ask for a range within the length in `Content-Range`, or for the whole file.', guide: REQUESTS },
  validation_failed: {
    remedy: 'Correct the fields in `data.fields`. Each item names a field and the rule that it breaks.',
    guide: FIRST_PURCHASE,
  },
  rate_limited: {
    remedy: 'Wait the number of seconds in `Retry-After`. If it happens often, send fewer requests at the same time.',
    guide: RETRIES,
  },
  headers_too_large: { remedy: 'Send fewer or shorter headers, for example no cookies.', guide: LIMITS },
  not_implemented: {
    remedy:
      'Do not repeat the request: it fails as long as the provider has this infrastructure. The message names another way, or ask the provider.',
    guide: WHAT_IS_MISSING,
  },
  internal_error: {
    remedy:
      'The request may or may not have had its effect. Repeat it with the same `Idempotency-Key`, or look for its effect first. If it keeps failing, give the `requestID` to the provider.',
    guide: LOST_RESPONSES,
  },
  unavailable: { remedy: 'Wait the number of seconds in `Retry-After`, then send the request again. Nothing was changed.', guide: RETRIES },
  http_version_not_supported: { remedy: 'Use HTTP/1.1.', guide: REQUESTS },
};

const OPERATOR_PROBLEMS = { title: 'Requests and responses', path: 'operator/concepts/requests-and-responses' };
const OPERATOR_RETRIES = { title: 'Retries', path: 'operator/concepts/retries' };
const OPERATOR_SANDBOX = { title: 'A month in the sandbox', path: 'guides/a-month' };
const OPERATOR_TOKENS = { title: 'Address and tokens', path: 'operator/concepts/address-and-tokens' };

/** By the last part of the type of a problem in the operator API. */
export const OPERATOR_REMEDIES: Readonly<Record<string, Remedy>> = {
  'malformed-request': { remedy: 'Send one JSON object, and only the query parameters that the operation has.', guide: OPERATOR_PROBLEMS },
  unauthorized: { remedy: 'Send `Authorization: Bearer` and a token that is still valid.', guide: OPERATOR_TOKENS },
  forbidden: { remedy: 'Use a token with the scope that the description of the operation names.', guide: OPERATOR_TOKENS },
  'sandbox-only': { remedy: 'Send the request to a sandbox. A live service has a real clock and real data.', guide: OPERATOR_SANDBOX },
  'not-found': { remedy: 'Check the identifier, for example with the operation that lists these resources.', guide: OPERATOR_PROBLEMS },
  'method-not-allowed': { remedy: 'Send one of the methods in `Allow`.', guide: OPERATOR_PROBLEMS },
  'request-timeout': { remedy: 'Send the whole request at once.', guide: OPERATOR_RETRIES },
  'wrong-state': {
    remedy: 'Read the resource again and decide by its state. `detail` names the state that the operation needs.',
    guide: OPERATOR_PROBLEMS,
  },
  'confirmation-required': {
    remedy: 'Let a second operator send the same request with another token within 15 minutes.',
    guide: OPERATOR_PROBLEMS,
  },
  'in-use': { remedy: 'Keep the resource, or first remove what uses it. `detail` says how much does.', guide: OPERATOR_PROBLEMS },
  'out-of-capacity': { remedy: 'Request less, or enlarge the node, the pool or the range.', guide: OPERATOR_PROBLEMS },
  'quota-exceeded': {
    remedy: 'Raise the quota of the account, or delete a VM, a backup or a name that is no longer needed.',
    guide: OPERATOR_PROBLEMS,
  },
  'precondition-failed': { remedy: 'Read the resource again, and decide whether your change is still right.', guide: OPERATOR_PROBLEMS },
  'not-implemented': { remedy: 'Do it in the infrastructure itself, or use an adapter that can do it.', guide: OPERATOR_PROBLEMS },
  'credit-limit-exceeded': { remedy: 'Raise the credit limit of the account, or ask the reseller to pay open invoices.', guide: CREDIT },
  'payload-too-large': { remedy: 'Send a shorter body.', guide: OPERATOR_PROBLEMS },
  'uri-too-long': { remedy: 'Check the value that you put into the path or the query.', guide: OPERATOR_PROBLEMS },
  'unsupported-media-type': {
    remedy: 'Send `Content-Type: application/json`, in UTF-8 and without compression.',
    guide: OPERATOR_PROBLEMS,
  },
  'validation-failed': {
    remedy: 'Correct the values in `errors`. Each item points to a value and says what was expected.',
    guide: OPERATOR_PROBLEMS,
  },
  'rate-limited': { remedy: 'Wait the number of seconds in `Retry-After`.', guide: OPERATOR_RETRIES },
  'headers-too-large': { remedy: 'Send fewer or shorter headers.', guide: OPERATOR_PROBLEMS },
  'internal-error': {
    remedy: 'Read the state before you repeat the request, and look for its `instance` in the log of the service.',
    guide: OPERATOR_RETRIES,
  },
  unavailable: {
    remedy: 'Wait the number of seconds in `Retry-After`, then send the request again. Nothing was changed.',
    guide: OPERATOR_RETRIES,
  },
  'http-version-not-supported': { remedy: 'Use HTTP/1.1.', guide: OPERATOR_PROBLEMS },
};
