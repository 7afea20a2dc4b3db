import type { SecurityKey } from '../document/operation.ts';
import { parentPointer } from '../document/pointer.ts';
import { MASK } from '../document/secrets.ts';
import { visible } from '../exchange/visible.ts';
import type { Assertion } from '../judge/assertion.ts';
import type { Replay, ReplayRequest, Source, Text } from '../judge/replay.ts';
import type { SettledFinding, SettledReport } from './baseline.ts';
import { HELPERS } from './node-test-helpers.ts';

/** Writes a finding as a file for `node --test` that needs no package. It fails while the service has the defect. */
export function toNodeTest({ document, target }: Pick<SettledReport, 'document' | 'target'>, finding: SettledFinding): string {
  const { id, check, verdict, message, expected, observed, touches, replay } = finding;
  const variables = typeof replay === 'string' ? [] : variablesOf(replay);
  const title = JSON.stringify(`${touches[0]?.operation ?? ''}: ${message}`);
  const head = comment([
    `Finding ${id} of the check ${check} (${verdict}) in ${document.title} ${document.version}`,
    `${message}: expected ${expected}, observed ${observed}`,
    '',
    'Run it with Node.js 20 or later. It needs no package, and fails while the service has this defect:',
    [...variables.map((name) => `${name}=KEY`), 'CONTRACT_TARGET=ANOTHER_TARGET', 'node --test FILE'].join(' '),
    ...(typeof replay === 'string' ? [] : notesOn(replay)),
  ]);
  const body =
    typeof replay === 'string'
      ? `import { test } from 'node:test';\n\ntest(${title}, { skip: ${JSON.stringify(`There is no test of this finding: ${replay}.`)} });\n`
      : `${imports(replay, target)}\n${testOf(replay, title)}\n${helpersFor(replay)}`;
  return visible(`${head}\n${body}`);
}

function comment(lines: readonly string[]): string {
  return lines
    .flatMap((line) => line.split(/[\r\n\u2028\u2029]/))
    .map((line) => `// ${line}`.trimEnd())
    .join('\n');
}

function notesOn({ named, isMasked, undo }: Replay): readonly string[] {
  return [
    ...(undo.length === 0 ? [] : ['It makes what it needs, and removes that at the end.']),
    ...(named.length === 0 ? [] : [`It changes what it does not make, so name the operation: CONTRACT_ALSO=${named.join(',')}`]),
    ...(isMasked ? ['It needs a value that is masked here: CONTRACT_MASKED=VALUE'] : []),
  ];
}

/** The environment variables with the keys that the requests need. */
function variablesOf({ requests, undo }: Replay): readonly string[] {
  return [...new Set([...requests, ...undo].flatMap(({ security }) => security?.keys.map(({ variable }) => variable) ?? []))];
}

function imports(replay: Replay, target: string): string {
  const { named, isMasked } = replay;
  const keys = variablesOf(replay).map((name) => `, ${name} = ''`);
  return [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    '',
    `const { CONTRACT_TARGET: target = ${JSON.stringify(target)}${keys.join('')} } = process.env;`,
    ...(named.length === 0 ? [] : ["const also = (process.env.CONTRACT_ALSO ?? '').split(',');"]),
    ...(isMasked ? ['const masked = process.env.CONTRACT_MASKED;'] : []),
    '',
  ].join('\n');
}

function testOf(replay: Replay, name: string): string {
  const { requests, undo } = replay;
  const sends = requests.flatMap((request, index) => called(`responses[${index}] = await send`, request));
  const lines = [...sends, ...assertionLines(replay)];
  const removals = undo.flatMap((request) => called(`if (responses[${request.made}]?.isSuccess) await send`, request));
  const steps =
    removals.length === 0
      ? indentedLines(lines, 1)
      : `  try {\n${indentedLines(lines, 2)}\n  } finally {\n${indentedLines(removals, 2)}\n  }`;
  return `test(${name}, ${optionsOf(replay)}async (t) => {\n  const responses = [];\n${steps}\n});\n`;
}

/** Skips a test that lacks what it needs from the environment. */
function optionsOf({ named, isMasked }: Replay): string {
  const lacks = [
    ...named.map((id) => `(!also.includes(${JSON.stringify(id)}) && 'Name what it changes in CONTRACT_ALSO.')`),
    ...(isMasked ? ["(masked === undefined && 'Give the masked value in CONTRACT_MASKED.')"] : []),
  ];
  return lacks.length === 0 ? '' : `{ skip: ${lacks.join(' || ')} }, `;
}

function indentedLines(lines: readonly string[], depth: number): string {
  return lines.map((line) => '  '.repeat(depth) + line).join('\n');
}

function called(send: string, request: ReplayRequest): readonly string[] {
  return [`${send}({`, ...Object.entries(requestCode(request)).map(([name, code]) => `  ${name}: ${code},`), '});'];
}

/** The code of each part of a request. */
function requestCode({ method, path, headers, body, credential, security }: ReplayRequest): Readonly<Record<string, string>> {
  const keys = credential === 'none' ? [] : (security?.keys ?? []);
  function secretOf({ variable }: SecurityKey): string {
    return credential === 'account' ? variable : "'contract-test-made-up-key'";
  }
  const given = Object.entries(headers).map(([name, text]) => `${JSON.stringify(name)}: ${textCode(text, false)}`);
  const queried = keys
    .filter((key) => key.in === 'query')
    .map((key) => `${encodeURIComponent(key.name)}=\${encodeURIComponent(${secretOf(key)})}`);
  const hasQuery = path.some((part) => typeof part === 'string' && part.includes('?'));
  return {
    method: JSON.stringify(method),
    path: textCode(path, true) + (queried.length === 0 ? '' : ` + \`${hasQuery ? '&' : '?'}${queried.join('&')}\``),
    headers: `{ ${[...given, ...keyHeaders(keys, secretOf)].join(', ')} }`,
    ...(body === undefined ? {} : { body: textCode([body], false) }),
  };
}

/** The headers with the credentials. `secretOf` returns the code of a key. */
function keyHeaders(keys: readonly SecurityKey[], secretOf: (key: SecurityKey) => string): readonly string[] {
  const cookies = keys.filter((key) => key.in === 'cookie').map((key) => `${key.name}=\${encodeURIComponent(${secretOf(key)})}`);
  const headers = keys
    .filter((key) => key.in === 'header')
    .map((key) => {
      const secret = secretOf(key);
      const value = key.kind === 'bearer' ? `\`Bearer \${${secret}}\`` : key.kind === 'basic' ? `\`Basic \${btoa(${secret})}\`` : secret;
      return `${JSON.stringify(key.name.toLowerCase())}: ${value}`;
    });
  return [...headers, ...(cookies.length === 0 ? [] : [`cookie: \`${cookies.join('; ')}\``])];
}

/** A text as a string, or as a template with values from earlier responses. */
function textCode(text: Text, isPath: boolean): string {
  const parts = text.map((part) => {
    if (typeof part === 'string')
      return part
        .replaceAll(/[\\`$]/g, '\\$&')
        .replaceAll('\r', '\\r')
        .replaceAll(MASK, '${masked}');
    const value = sourceCode(part.response, part.at);
    return `\${${isPath ? `encodeURIComponent(${value})` : value}}`;
  });
  const plain = text.filter((part) => typeof part === 'string').join('');
  return text.every((part) => typeof part === 'string') && !plain.includes(MASK) ? JSON.stringify(plain) : `\`${parts.join('')}\``;
}

function sourceCode(response: number, at: Source): string {
  if ('pointer' in at) return `at(responses[${response}].json, ${JSON.stringify(at.pointer)})`;
  const header = `responses[${response}].headers.get('${at.header}')`;
  return at.header === 'location' ? `${header}.split('/').at(-1)` : header;
}

/** The statements that assert one thing about the responses. */
function assertionLines(replay: Replay): readonly string[] {
  const { assertion, requests, undo } = replay;
  const last = `responses[${requests.length - 1}]`;
  const before = `responses[${requests.length - 2}]`;
  const status = requests.at(-1)?.status ?? 0;
  const same = [
    `if (${last}.status !== ${status}) return t.skip(\`The status is \${${last}.status}, so this says nothing about ${status}.\`);`,
  ];
  switch (assertion.kind) {
    case 'status':
      return [`assert.match(String(${last}.status), ${String(new RegExp(assertion.pattern))});`];
    case 'media-type':
      return [...same, `assert.ok(${JSON.stringify(assertion.allowed)}.includes(${last}.mediaType), ${last}.mediaType);`];
    case 'header':
      return [...same, `assert.equal(${last}.headers.has(${JSON.stringify(assertion.name)}), ${assertion.isPresent});`];
    case 'property': {
      const value = `at(${last}.json, ${JSON.stringify(assertion.pointer)})`;
      const holder = `at(${last}.json, ${JSON.stringify(parentPointer(assertion.pointer))})`;
      return [
        ...(assertion.ofAll === true
          ? []
          : [...same, `if (${holder} === undefined) return t.skip('The response does not have the object.');`]),
        `assert.equal(${value} ${assertion.isPresent ? '!==' : '==='} undefined, true);`,
      ];
    }
    case 'rule':
      return [
        ...same,
        assertion.header === undefined
          ? `const value = at(${last}.json, ${JSON.stringify(assertion.pointer)});`
          : `const value = typed(${last}.headers.get(${JSON.stringify(assertion.header)}));`,
        `if (value === undefined) return t.skip('The response does not have the value.');`,
        `assert.ok(${RULES[assertion.keyword](assertion.limit)}, JSON.stringify(value));`,
      ];
    case 'value': {
      const value = `at(${last}.json, ${JSON.stringify(assertion.pointer)})`;
      const given = JSON.stringify(assertion.value);
      return assertion.isEqual
        ? [...same, `assert.deepEqual(normal(${value}), normal(${given}));`]
        : [`if (${last}.isSuccess) assert.notDeepEqual(${value}, ${given});`];
    }
    case 'body':
      return assertion.is === 'without-key' ? keyLines(replay, last) : bodyLines(assertion.is, last, same);
    case 'agreement':
      return [
        `assert.equal(${JSON.stringify(assertion.success)}.includes(at(${last}.json, ${JSON.stringify(assertion.pointer)})), ${last}.isSuccess);`,
      ];
    case 'tags-differ':
      return [`if (${before}.text !== ${last}.text) assert.notEqual(${last}.headers.get('etag'), ${before}.headers.get('etag'));`];
    case 'values-differ': {
      const [one, other] = [before, last].map((response) => `at(${response}.json, ${JSON.stringify(assertion.pointer)})`);
      return [`assert.notEqual(${other}, ${one});`];
    }
    case 'pages-differ':
      return [
        `const [one, other] = [${before}, ${last}].map(({ json }) => at(json, ${JSON.stringify(assertion.pointer)}).map((item) => JSON.stringify(item)));`,
        `assert.ok(other.filter((item) => one.includes(item)).length <= ${assertion.allowance}, 'The second page repeats items of the first.');`,
      ];
    case 'lists-created':
      return [...same, `assert.ok(${last}.text.includes(JSON.stringify(${createdBy(undo)})), 'The list lacks it.');`];
  }
}

/** The identifier of what the requests make. */
function createdBy(undo: Replay['undo']): string {
  const source = undo.flatMap(({ path }) => path).findLast((part) => typeof part !== 'string');
  return source === undefined ? 'undefined' : sourceCode(source.response, source.at);
}

function keyLines(replay: Replay, last: string): readonly string[] {
  const names = variablesOf(replay);
  return [
    ...names.map((name) => `assert.ok(${name}.length >= 8, '${name} has fewer than 8 characters.');`),
    `const text = ${last}.text + JSON.stringify([...${last}.headers]);`,
    ...names.map((name) => `assert.equal(text.includes(${name}), false);`),
  ];
}

function bodyLines(is: 'complete' | 'json' | 'unambiguous', last: string, same: readonly string[]): readonly string[] {
  switch (is) {
    case 'complete':
      return [`assert.equal(${last}.cut, undefined);`];
    case 'json':
      return [...same, `assert.notEqual(${last}.json, undefined, 'The body is not JSON.');`];
    case 'unambiguous':
      return [
        ...same,
        `assert.equal(${last}.text.startsWith('\\uFEFF'), false);`,
        `assert.equal(namesIn(${last}.text), membersOf(${last}.json));`,
      ];
  }
}

/** For each keyword, the condition that `value` obeys it. */
const RULES: Readonly<Record<Extract<Assertion, { kind: 'rule' }>['keyword'], (limit: unknown) => string>> = {
  type: (limit) => `${JSON.stringify([limit].flat())}.some((type) => isType(value, type))`,
  enum: (limit) => `${JSON.stringify(limit)}.some((one) => JSON.stringify(one) === JSON.stringify(value))`,
  const: (limit) => `JSON.stringify(value) === ${JSON.stringify(JSON.stringify(limit))}`,
  minimum: (limit) => `value >= ${JSON.stringify(limit)}`,
  maximum: (limit) => `value <= ${JSON.stringify(limit)}`,
  exclusiveMinimum: (limit) => `value > ${JSON.stringify(limit)}`,
  exclusiveMaximum: (limit) => `value < ${JSON.stringify(limit)}`,
  multipleOf: (limit) => `Math.abs(value / ${JSON.stringify(limit)} - Math.round(value / ${JSON.stringify(limit)})) < 1e-9`,
  pattern: (limit) => `${String(limit)}.test(value)`,
  minLength: (limit) => `[...value].length >= ${JSON.stringify(limit)}`,
  maxLength: (limit) => `[...value].length <= ${JSON.stringify(limit)}`,
  minItems: (limit) => `value.length >= ${JSON.stringify(limit)}`,
  maxItems: (limit) => `value.length <= ${JSON.stringify(limit)}`,
};

/** The helpers that a test uses, in the order in which they are written. */
function helpersFor(replay: Replay): string {
  const code = testOf(replay, '');
  return HELPERS.filter(({ name }) => code.includes(`${name}(`))
    .map(({ source }) => source)
    .join('\n');
}
