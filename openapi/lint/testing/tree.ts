/** The files of a small document, by path. */
export type Tree = Readonly<Record<string, string>>;

/** A document that breaks no rule. Tests change it. */
export const soundTree: Tree = {
  'description.md': 'About the whole document.\n',
  'README.md': 'A note for people.\n',
  'openapi.yaml': `openapi: 3.1.0
info:
  title: Fixture
  version: 1.0.0
  description: See description.md.
  license:
    name: MIT
    identifier: MIT
servers:
  - url: https://api.reseller.invalid
    description: The only one.
security:
  - ApiKey: []
tags:
  - name: Thing
    description: Things.
paths:
  /thing/{id}/info:
    $ref: paths/thing@{id}@info.yaml
components:
  securitySchemes:
    ApiKey:
      $ref: components/securitySchemes/ApiKey.yaml
`,
  'paths/thing@{id}@info.yaml': `put:
  operationId: changeThing
  tags: [Thing]
  summary: Change a thing
  description: Changes one thing.
  x-retry: never
  x-effect: none
  parameters:
    - $ref: ../components/parameters/ThingId.yaml
  requestBody:
    required: true
    description: The new state of the thing.
    content:
      application/x-www-form-urlencoded:
        schema:
          $ref: ../components/schemas/thing/ChangeThingForm.yaml
        examples:
          renamed:
            $ref: ../components/examples/thing/ChangeThingForm.yaml
  responses:
    '200':
      description: The thing was changed.
      content:
        application/json:
          schema:
            $ref: ../components/schemas/thing/Thing.yaml
          examples:
            changed:
              $ref: ../components/examples/thing/ChangeThingChanged.yaml
    '422':
      $ref: ../components/responses/Refused.yaml
`,
  'common.yaml': `components:
  headers:
    IdempotencyKeyLifetime:
      description: Seconds for which a key is kept.
      x-provenance: not-shown
      schema:
        type: integer
      example: 86400
  responses:
    BadRequest:
      $ref: components/responses/Refused.yaml
    Unauthorized:
      $ref: components/responses/Refused.yaml
    AccountSuspended:
      $ref: components/responses/Refused.yaml
    Forbidden:
      $ref: components/responses/Refused.yaml
    NotFound:
      $ref: components/responses/Refused.yaml
    PayloadTooLarge:
      $ref: components/responses/Refused.yaml
    UnsupportedMediaType:
      $ref: components/responses/Refused.yaml
    TooManyRequests:
      $ref: components/responses/Refused.yaml
    InternalServerError:
      $ref: components/responses/Refused.yaml
    ServiceUnavailable:
      $ref: components/responses/Refused.yaml
`,
  'components/securitySchemes/ApiKey.yaml': `type: apiKey
in: header
name: X-KEY
description: The key.
`,
  'components/parameters/ThingId.yaml': `name: id
in: path
required: true
description: Identifier of the thing.
schema:
  type: string
example: t1
`,
  'components/headers/RetryAfter.yaml': `description: Seconds to wait.
x-provenance: not-shown
schema:
  type: integer
example: 2
`,
  'components/responses/Refused.yaml': `description: The request was refused.
x-provenance: not-shown
headers:
  Retry-After:
    $ref: ../headers/RetryAfter.yaml
content:
  application/json:
    schema:
      $ref: ../schemas/common/Refusal.yaml
    examples:
      refused:
        $ref: ../examples/common/Refused.yaml
`,
  'components/schemas/common/Refusal.yaml': `type: object
description: The refusal of a request.
properties:
  message:
    type: string
    description: The reason.
  x-anything:
    type: string
    description: In a map this is the name of an entry.
`,
  'components/schemas/thing/ThingState.yaml': `description: State of a thing.
anyOf:
  - type: string
    enum: [OK, LOCK]
    x-seen: true
  - type: string
`,
  'components/schemas/thing/Thing.yaml': `type: object
description: A thing.
required: [name]
properties:
  name:
    type: string
    description: Name of the thing.
  state:
    $ref: ThingState.yaml
  kind:
    const: thing
    x-constraints: shown
    description: Kind of thing.
`,
  'components/schemas/thing/ChangeThingForm.yaml': `type: object
description: The thing to change.
additionalProperties: false
x-constraints: not-shown
required: [name]
properties:
  name:
    type: string
    description: Its new name.
  size:
    type: string
    enum: [small, large]
    description: Its new size.
`,
  'components/examples/common/Refused.yaml': `summary: Refused
value:
  message: No.
  x-anything: In an example it is data.
`,
  'components/examples/thing/ChangeThingForm.yaml': `summary: A new name
value:
  name: web1
`,
  'components/examples/thing/ChangeThingChanged.yaml': `summary: Changed
value:
  name: web1
  state: OK
  kind: thing
`,
};

const PARTS = ['paths/', 'components/'];

/** The sound tree with a copy of its document, operator.yaml, whose parts are in the folder `operator`. */
export const treeOfTwo: Tree = {
  ...soundTree,
  'operator.yaml': (soundTree['openapi.yaml'] ?? '').replaceAll('$ref: ', '$ref: operator/'),
  ...Object.fromEntries(
    Object.entries(soundTree)
      .filter(([file]) => PARTS.some((folder) => file.startsWith(folder)))
      .map(([file, text]) => [`operator/${file}`, text]),
  ),
};

/** The entry for operator.yaml in redocly.yaml. */
export const operator = { root: 'operator.yaml' };

/**
 * The sound tree with part of the text of one file replaced.
 *
 * @throws Error if the file does not contain that part, so that a test cannot pass by changing nothing
 */
export function withText(file: string, part: string, replacement: string, base: Tree = soundTree): Tree {
  const text = base[file];
  if (text === undefined || !text.includes(part)) throw new Error(`${file} of the tree does not have the text "${part}".`);
  return { ...base, [file]: text.replace(part, () => replacement) };
}
