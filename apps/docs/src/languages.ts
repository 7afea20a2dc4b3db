/** Samples of a request in languages without a client of the project. They need only the standard library of the language. */
import { credentialHeader } from './references.ts';
import type { Reference } from './references.ts';
import type { SampleRequest } from './samples.ts';

/** The request of a sample. */
export interface Sent extends Pick<SampleRequest, 'method' | 'body' | 'mediaType'> {
  readonly url: string;
  readonly reference: Reference;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The form fields or the JSON text that a request sends, and its media type. All are undefined if it has no body. */
function contentOf({ body, mediaType }: Sent, indent: number) {
  const isJson = mediaType === JSON_TYPE;
  const form = isJson || body === undefined ? undefined : Object.entries(body).map(([name, value]) => [name, String(value)] as const);
  const type = isJson ? JSON_TYPE : form && FORM_TYPE;
  return { form, json: isJson ? JSON.stringify(body ?? {}, null, indent) : undefined, type };
}

const PYTHON_CONSTANTS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

export function pythonSample(sent: Sent): string {
  const { form, json } = contentOf(sent, 4);
  const { name, prefix } = credentialHeader(sent.reference);
  // A string of JSON is a string of Python as well.
  const value = json?.replaceAll(/"(?:\\.|[^"\\])*"|true|false|null/g, (token) => PYTHON_CONSTANTS[token] ?? token);
  const fields = form?.map(([field, text]) => `        ${JSON.stringify(field)}: ${JSON.stringify(text)},\n`).join('');
  const data = [
    ...(value === undefined ? [] : [`    data=json.dumps(${hangingIndent(value, 4)}).encode(),`]),
    ...(fields === undefined ? [] : [`    data=urlencode({\n${fields}    }).encode(),`]),
  ];
  const key = `os.environ["${sent.reference.credential}"]`;
  return [
    ...(json === undefined ? [] : ['import json']),
    'import os',
    ...(form === undefined ? [] : ['from urllib.parse import urlencode']),
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    "${sent.url}",`,
    `    method="${sent.method}",`,
    '    headers={',
    `        "${name}": ${prefix === '' ? key : `"${prefix}" + ${key}`},`,
    ...(json === undefined ? [] : [`        "Content-Type": "${JSON_TYPE}",`]),
    '    },',
    ...data,
    ')',
    'with urlopen(request) as response:',
    '    print(response.read().decode())',
  ].join('\n');
}

export function phpSample(sent: Sent): string {
  const { form, json, type } = contentOf(sent, 2);
  const { name, prefix } = credentialHeader(sent.reference);
  const fields = form?.map(([field, text]) => `        ${phpText(field)} => ${phpText(text)},\n`).join('');
  return [
    '<?php',
    ...(json === undefined ? [] : [`$body = <<<'JSON'\n${json}\nJSON;`]),
    "$context = stream_context_create(['http' => [",
    `    'method' => '${sent.method}',`,
    "    'header' => [",
    `        '${name}: ${prefix}' . getenv('${sent.reference.credential}'),`,
    ...(type === undefined ? [] : [`        'Content-Type: ${type}',`]),
    '    ],',
    ...(json === undefined ? [] : ["    'content' => $body,"]),
    ...(fields === undefined ? [] : [`    'content' => http_build_query([\n${fields}    ]),`]),
    "    'ignore_errors' => true,",
    ']]);',
    `echo file_get_contents('${sent.url}', false, $context);`,
  ].join('\n');
}

function phpText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function goSample(sent: Sent): string {
  const { form, json, type } = contentOf(sent, 2);
  const { name, prefix } = credentialHeader(sent.reference);
  const packages = ['fmt', 'io', 'net/http', ...(form === undefined ? [] : ['net/url']), 'os', ...(type === undefined ? [] : ['strings'])];
  const fields = form?.map(([field, text]) => `\t\t${JSON.stringify(field)}: {${JSON.stringify(text)}},\n`).join('');
  const key = `os.Getenv("${sent.reference.credential}")`;
  const failed = '\tif err != nil {\n\t\tpanic(err)\n\t}';
  return [
    `package main\n\nimport (\n${packages.map((one) => `\t"${one}"\n`).join('')})\n\nfunc main() {`,
    ...(json === undefined ? [] : [`\tbody := \`${json}\``]),
    ...(fields === undefined ? [] : [`\tbody := url.Values{\n${fields}\t}.Encode()`]),
    `\trequest, err := http.NewRequest("${sent.method}", "${sent.url}", ${type === undefined ? 'nil' : 'strings.NewReader(body)'})`,
    failed,
    `\trequest.Header.Set("${name}", ${prefix === '' ? key : `"${prefix}"+${key}`})`,
    ...(type === undefined ? [] : [`\trequest.Header.Set("Content-Type", "${type}")`]),
    '\tresponse, err := http.DefaultClient.Do(request)',
    failed,
    '\tdefer response.Body.Close()',
    '\ttext, err := io.ReadAll(response.Body)',
    failed,
    '\tfmt.Println(response.Status, string(text))',
    '}',
  ].join('\n');
}

function hangingIndent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
