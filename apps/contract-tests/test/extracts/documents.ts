/**
 * Small documents that we wrote in the style of well-known public ones: versions, credentials, lists, bodies, unusual keywords.
 * Nothing in them is copied.
 */
type Json = Readonly<Record<string, unknown>>;

function ok(schema: unknown, example?: unknown, more: Json = {}): Json {
  return { description: 'Fine.', content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }, ...more };
}

function failure(schema: unknown, type = 'application/json'): Json {
  return { description: 'Not fine.', content: { [type]: { schema } } };
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function path(name: string, schema: unknown = { type: 'string' }, more: Json = {}): Json {
  return { name, in: 'path', required: true, schema, ...more };
}

function object(properties: Json, required: readonly string[] = [], more: Json = {}): Json {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...more };
}

/** Like DigitalOcean: 3.0, bearer token, lists under a name with links and meta, numbers as identifiers, rate limit headers. */
const cloud = {
  openapi: '3.0.0',
  info: { title: 'Cloud', version: '2' },
  security: [{ bearer_auth: [] }],
  paths: {
    '/v2/machines': {
      get: {
        operationId: 'machines_list',
        parameters: [
          { name: 'per_page', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200, default: 20 } },
          { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } },
        ],
        responses: {
          200: ok(
            { allOf: [object({ machines: { type: 'array', items: ref('machine') } }, ['machines']), ref('pages'), ref('meta')] },
            {
              machines: [
                { id: 3164444, name: 'web-1', size: 's-1', image: null },
                { id: 3164445, name: 'web-2', size: 's-2', image: 'img' },
              ],
              links: {},
              meta: { total: 2 },
            },
            { headers: { 'ratelimit-limit': { $ref: '#/components/headers/limit' } } },
          ),
          401: failure(ref('error')),
          '4XX': failure(ref('error')),
        },
      },
      post: {
        operationId: 'machines_create',
        requestBody: { required: true, content: { 'application/json': { schema: { oneOf: [ref('single'), ref('several')] } } } },
        responses: { 202: ok(object({ machine: ref('machine') })), '4XX': failure(ref('error')) },
      },
    },
    '/v2/machines/{machine_id}': {
      parameters: [path('machine_id', { type: 'integer', minimum: 1 }, { example: 3164444 })],
      get: {
        operationId: 'machines_get',
        responses: {
          200: ok(object({ machine: ref('machine') }, ['machine']), { machine: { id: 3164444, name: 'web-1', size: 's-1', image: null } }),
          '4XX': failure(ref('error')),
        },
      },
      delete: { operationId: 'machines_destroy', responses: { 204: { description: 'Gone.' }, '4XX': failure(ref('error')) } },
    },
    '/v2/machines/{machine_id}/backups': {
      parameters: [path('machine_id', { type: 'integer' })],
      get: {
        operationId: 'machines_list_backups',
        responses: {
          200: ok(object({ backups: { type: 'array', items: object({ id: { type: 'integer' } }) } }), { backups: [{ id: 7 }] }),
          '4XX': failure(ref('error')),
        },
      },
    },
  },
  components: {
    securitySchemes: { bearer_auth: { type: 'http', scheme: 'bearer' } },
    headers: { limit: { schema: { type: 'integer', format: 'int32' }, example: 5000 } },
    schemas: {
      machine: object(
        { id: { type: 'integer' }, name: { type: 'string' }, size: { type: 'string' }, image: { type: 'string', nullable: true } },
        ['id', 'name'],
      ),
      single: object({ name: { type: 'string', pattern: '^[a-zA-Z0-9]?[a-z0-9A-Z.\\-]*[a-z0-9A-Z]$', example: 'web-3' } }, ['name']),
      several: object({ names: { type: 'array', items: { type: 'string' }, minItems: 1 } }, ['names']),
      pages: object({ links: object({ pages: { anyOf: [object({ next: { type: 'string' } }), object({})] } }) }),
      meta: object({ meta: object({ total: { type: 'integer' } }, ['total']) }, ['meta']),
      error: object({ id: { type: 'string' }, message: { type: 'string' } }, ['id', 'message']),
    },
  },
};

/** Like Adyen: 3.1, nearly everything is a POST with JSON, a key or user and password, extension keywords everywhere, no server errors described. */
const payments = {
  openapi: '3.1.0',
  info: { title: 'Payments', version: '71', 'x-publicVersion': true },
  paths: {
    '/payments': {
      post: {
        operationId: 'post-payments',
        'x-methodName': 'payments',
        security: [{ BasicAuth: [] }, { ApiKeyAuth: [] }],
        parameters: [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }],
        requestBody: { content: { 'application/json': { schema: ref('PaymentRequest') } } },
        responses: { 200: ok(ref('PaymentResponse')), 401: failure(ref('ServiceError')), 422: failure(ref('ServiceError')) },
      },
    },
    '/storedPaymentMethods': {
      get: {
        operationId: 'get-storedPaymentMethods',
        security: [{ BasicAuth: [] }, { ApiKeyAuth: [] }],
        parameters: [
          { name: 'merchantAccount', in: 'query', required: true, schema: { type: 'string', 'x-addedInVersion': '1', examples: ['Shop'] } },
          { name: 'shopperReference', in: 'query', required: false, schema: { type: 'string' } },
        ],
        responses: {
          200: ok(
            object({ storedPaymentMethods: { type: 'array', items: object({ id: { type: 'string' }, brand: { type: 'string' } }) } }),
            { storedPaymentMethods: [{ id: 'M5N7', brand: 'visa' }] },
          ),
          401: failure(ref('ServiceError')),
          400: failure(ref('ServiceError')),
        },
      },
    },
    '/storedPaymentMethods/{storedPaymentMethodId}': {
      delete: {
        operationId: 'delete-storedPaymentMethod',
        security: [{ ApiKeyAuth: [] }],
        parameters: [path('storedPaymentMethodId'), { name: 'merchantAccount', in: 'query', required: true, schema: { type: 'string' } }],
        responses: { 204: { description: 'Gone.' } },
      },
    },
  },
  components: {
    securitySchemes: { ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key' }, BasicAuth: { type: 'http', scheme: 'basic' } },
    schemas: {
      Amount: object({ currency: { type: 'string', minLength: 3, maxLength: 3 }, value: { type: 'integer', format: 'int64' } }, [
        'value',
        'currency',
      ]),
      PaymentRequest: object(
        {
          amount: { description: 'How much.', $ref: '#/components/schemas/Amount' },
          channel: { type: 'string', enum: ['iOS', 'Android', 'Web'], 'x-enum': [{ value: 'iOS' }] },
          reference: { type: 'string' },
        },
        ['amount', 'reference'],
      ),
      PaymentResponse: object({ pspReference: { type: 'string' }, resultCode: { type: 'string', enum: ['Authorised', 'Refused'] } }),
      ServiceError: object({ errorCode: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer', format: 'int32' } }),
    },
  },
};

/** Like OpenAI: 3.1 with remains of 3.0 (`nullable` without type), misspelt and invented keywords, unions, multipart uploads. */
const models = {
  openapi: '3.1.0',
  info: { title: 'Models', version: '2' },
  security: [{ ApiKeyAuth: [] }],
  paths: {
    '/models': {
      get: {
        operationId: 'listModels',
        responses: {
          200: ok(
            object(
              { object: { type: 'string', enum: ['list'], 'x-stainless-const': true }, data: { type: 'array', items: ref('Model') } },
              ['object', 'data'],
            ),
            { object: 'list', data: [{ id: 'm-small', object: 'model', created: 1686935002 }] },
          ),
          default: failure(ref('ErrorResponse')),
        },
      },
    },
    '/models/{model}': {
      get: {
        operationId: 'retrieveModel',
        parameters: [path('model', { type: 'string', example: 'm-small' })],
        responses: {
          200: ok(ref('Model'), { id: 'm-small', object: 'model', created: 1686935002 }),
          default: failure(ref('ErrorResponse')),
        },
      },
    },
    '/responses': {
      post: {
        operationId: 'createResponse',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: object(
                {
                  input: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, min_items: 1 }] },
                  model: { type: 'string', optional: true },
                },
                ['input'],
              ),
            },
          },
        },
        responses: { 200: ok(object({ id: { type: 'string' } })), default: failure(ref('ErrorResponse')) },
      },
    },
    '/odd': { get: { operationId: 'getOdd', responses: { 200: ok(object({ reason: { nullable: true } })) } } },
    '/files': {
      post: {
        operationId: 'createFile',
        requestBody: {
          required: true,
          content: { 'multipart/form-data': { schema: object({ file: { type: 'string', format: 'binary' } }) } },
        },
        responses: { 200: ok(object({})) },
      },
    },
  },
  components: {
    securitySchemes: { ApiKeyAuth: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Model: object(
        { id: { type: 'string' }, object: { type: 'string', enum: ['model'] }, created: { type: 'integer', format: 'unixtime' } },
        ['id', 'object', 'created'],
        { $recursiveAnchor: true },
      ),
      ErrorResponse: object(
        { error: object({ message: { type: 'string' }, code: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, ['message']) },
        ['error'],
      ),
    },
  },
};

/** Like Twilio: 3.0, user and password, forms, identifiers with a pattern, file endings in paths, unusual formats. */
const SID = { type: 'string', minLength: 34, maxLength: 34, pattern: '^AC[0-9a-fA-F]{32}$' };
const MESSAGE_SID = { type: 'string', pattern: '^SM[0-9a-fA-F]{32}$' };
const account = { sid: 'AC0123456789abcdef0123456789abcdef', status: 'active', date_created: 'Thu, 30 Jul 2015 20:12:31 +0000' };
const message = { sid: 'SM0123456789abcdef0123456789abcdef', body: null, price: '-0.00750' };
const messaging = {
  openapi: '3.0.1',
  info: { title: 'Messaging', version: '1' },
  security: [{ accountSid_authToken: [] }],
  paths: {
    '/2010-04-01/Accounts.json': {
      get: {
        operationId: 'ListAccount',
        responses: {
          200: ok(
            object({
              accounts: { type: 'array', items: ref('account') },
              next_page_uri: { type: 'string', format: 'uri', nullable: true },
            }),
            { accounts: [account], next_page_uri: null },
          ),
          '4XX': failure(ref('error')),
        },
      },
    },
    '/2010-04-01/Accounts/{Sid}.json': {
      get: {
        operationId: 'FetchAccount',
        parameters: [path('Sid', SID)],
        responses: { 200: ok(ref('account'), account), '4XX': failure(ref('error')) },
      },
    },
    '/2010-04-01/Accounts/{AccountSid}/Messages.json': {
      parameters: [path('AccountSid', SID)],
      get: {
        operationId: 'ListMessage',
        responses: {
          200: ok(object({ messages: { type: 'array', items: ref('message') } }), { messages: [message] }),
          '4XX': failure(ref('error')),
        },
      },
      post: {
        operationId: 'CreateMessage',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: object(
                { To: { type: 'string', format: 'phone-number' }, MediaUrl: { type: 'array', items: { type: 'string', format: 'uri' } } },
                ['To'],
              ),
            },
          },
        },
        responses: { 201: ok(ref('message')), '4XX': failure(ref('error')) },
      },
    },
    '/2010-04-01/Accounts/{AccountSid}/Messages/{Sid}.json': {
      get: {
        operationId: 'FetchMessage',
        parameters: [path('AccountSid', SID), path('Sid', MESSAGE_SID)],
        responses: { 200: ok(ref('message'), message), '4XX': failure(ref('error')) },
      },
    },
  },
  components: {
    securitySchemes: { accountSid_authToken: { type: 'http', scheme: 'basic' } },
    schemas: {
      account: object({
        sid: { ...SID, nullable: true },
        status: { $ref: '#/components/schemas/status' },
        date_created: { type: 'string', format: 'date-time-rfc-2822', nullable: true },
      }),
      status: { type: 'string', enum: ['active', 'suspended', 'closed'] },
      message: object({
        sid: { ...MESSAGE_SID, nullable: true },
        body: { type: 'string', nullable: true },
        price: { type: 'string', nullable: true },
      }),
      error: object({ code: { type: 'integer' }, message: { type: 'string' } }),
    },
  },
};

/** Like the train travel API: 3.1, OAuth 2, links, problems, several content types, constants in unions. */
const trip = {
  id: '1725ff48-ab45-4bb5-9d02-88745177dedb',
  origin: 'efdbb9d1-02c2-4bc3-afb7-6788d8782b1e',
  price: 50.5,
  departs_at: '2026-02-01T10:00:00Z',
};
const trains = {
  openapi: '3.1.0',
  info: { title: 'Trains', version: '1.2.1' },
  security: [{ OAuth2: ['read'] }],
  paths: {
    '/stations': {
      get: {
        operationId: 'get-stations',
        security: [{ OAuth2: ['read'] }, {}],
        parameters: [{ name: 'coordinates', in: 'query', schema: { type: 'string' }, example: '52.52,13.40' }],
        responses: {
          200: {
            description: 'Fine.',
            headers: { 'Cache-Control': { schema: { type: 'string' } } },
            content: {
              'application/json': {
                schema: object({
                  data: { type: 'array', items: object({ id: { type: 'string', format: 'uuid' }, name: { type: 'string' } }, ['id']) },
                  links: object({ self: { type: 'string', format: 'uri' } }),
                }),
                example: { data: [{ id: trip.origin, name: 'Berlin' }], links: { self: 'https://trains.example/stations' } },
              },
              'application/xml': { schema: object({}) },
            },
          },
          400: failure(ref('Problem'), 'application/problem+json'),
          429: failure(ref('Problem'), 'application/problem+json'),
        },
      },
    },
    '/trips': {
      get: {
        operationId: 'get-trips',
        parameters: [
          { name: 'origin', in: 'query', required: true, schema: { type: 'string', format: 'uuid' }, example: trip.origin },
          { name: 'date', in: 'query', required: true, schema: { type: 'string', format: 'date-time' }, example: '2026-02-01T09:00:00Z' },
        ],
        responses: {
          200: ok(object({ data: { type: 'array', items: ref('Trip') } }), { data: [trip] }),
          400: failure(ref('Problem'), 'application/problem+json'),
          401: failure(ref('Problem'), 'application/problem+json'),
        },
      },
    },
    '/bookings': {
      get: {
        operationId: 'get-bookings',
        responses: {
          200: {
            ...ok(object({ data: { type: 'array', items: ref('Booking') } }), { data: [{ id: trip.id, passenger: 'Ada' }] }),
            links: {},
          },
          401: failure(ref('Problem'), 'application/problem+json'),
        },
      },
      post: {
        operationId: 'create-booking',
        security: [{ OAuth2: ['write'] }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: object({ trip_id: { type: 'string', format: 'uuid' }, passenger: { type: 'string', examples: ['Ada'] } }, [
                'trip_id',
              ]),
            },
          },
        },
        responses: {
          201: { ...ok(ref('Booking')), links: { get: { operationId: 'get-booking', parameters: { bookingId: '$response.body#/id' } } } },
          401: failure(ref('Problem'), 'application/problem+json'),
        },
      },
    },
    '/bookings/{bookingId}': {
      parameters: [path('bookingId', { type: 'string', format: 'uuid' }, { example: trip.id })],
      get: {
        operationId: 'get-booking',
        responses: {
          200: ok(ref('Booking'), { id: trip.id, passenger: 'Ada' }),
          401: failure(ref('Problem'), 'application/problem+json'),
          404: failure(ref('Problem'), 'application/problem+json'),
        },
      },
      delete: {
        operationId: 'delete-booking',
        responses: { 204: { description: 'Gone.' }, 404: failure(ref('Problem'), 'application/problem+json') },
      },
    },
  },
  components: {
    securitySchemes: {
      OAuth2: {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://trains.example/a',
            tokenUrl: 'https://trains.example/t',
            scopes: { read: '', write: '' },
          },
        },
      },
    },
    schemas: {
      Trip: object(
        {
          id: { type: 'string', format: 'uuid' },
          origin: { type: 'string', format: 'uuid' },
          price: { type: 'number', multipleOf: 0.01 },
          departs_at: { type: 'string', format: 'date-time' },
        },
        ['id'],
      ),
      Booking: object({ id: { type: 'string', format: 'uuid', readOnly: true }, passenger: { type: 'string' } }),
      Problem: object({ type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' } }),
    },
  },
};

/** Like the museum API: 3.1, user and password, dates in queries, an image as response. */
const museum = {
  openapi: '3.1.0',
  info: { title: 'Museum', version: '1' },
  security: [{ MuseumPlaceholderAuth: [] }],
  paths: {
    '/museum-hours': {
      get: {
        operationId: 'getMuseumHours',
        security: [],
        parameters: [
          { name: 'startDate', in: 'query', schema: { type: 'string', format: 'date' }, example: '2026-02-23' },
          { name: 'limit', in: 'query', schema: { type: 'integer', default: 10, maximum: 30 } },
        ],
        responses: {
          200: ok(
            {
              type: 'array',
              items: object(
                { date: { type: 'string', format: 'date' }, timeOpen: { type: 'string', pattern: '^([01]\\d|2[0-3]):?([0-5]\\d)$' } },
                ['date', 'timeOpen'],
              ),
            },
            [{ date: '2026-02-23', timeOpen: '09:00' }],
          ),
          400: failure(ref('Error'), 'application/problem+json'),
        },
      },
    },
    '/special-events': {
      get: {
        operationId: 'listSpecialEvents',
        responses: {
          200: ok({ type: 'array', items: ref('Event') }, [{ eventId: '3be6453c-03eb-4357-ae5a-984a0e574a54', price: 25 }]),
          401: failure(ref('Error'), 'application/problem+json'),
        },
      },
      post: {
        operationId: 'createSpecialEvent',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: object({ name: { type: 'string' }, price: { type: 'number' } }, ['name', 'price']),
              examples: { default_example: { value: { name: 'Pirates', price: 30 } } },
            },
          },
        },
        responses: { 201: ok(ref('Event')), 400: failure(ref('Error'), 'application/problem+json') },
      },
    },
    '/special-events/{eventId}': {
      get: {
        operationId: 'getSpecialEvent',
        parameters: [path('eventId', { type: 'string', format: 'uuid' })],
        responses: {
          200: ok(ref('Event'), { eventId: '3be6453c-03eb-4357-ae5a-984a0e574a54', price: 25 }),
          401: failure(ref('Error'), 'application/problem+json'),
          404: failure(ref('Error'), 'application/problem+json'),
        },
      },
    },
    '/tickets/{ticketId}/qr': {
      get: {
        operationId: 'getTicketCode',
        parameters: [path('ticketId', { type: 'string', format: 'uuid' }, { example: 'a54a57ca-36f8-421b-a6b4-2e8f26858a4c' })],
        responses: {
          200: { description: 'A picture.', content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } } },
          401: failure(ref('Error'), 'application/problem+json'),
          404: failure(ref('Error'), 'application/problem+json'),
        },
      },
    },
  },
  components: {
    securitySchemes: { MuseumPlaceholderAuth: { type: 'http', scheme: 'basic' } },
    schemas: {
      Event: object({ eventId: { type: 'string', format: 'uuid' }, price: { type: 'number', format: 'float' } }),
      Error: object({ type: { type: 'string' }, title: { type: 'string' } }),
    },
  },
};

/** Like the pet store: 3.0, a key or OAuth, listed values in queries, lists as bodies, XML as well as JSON, hardly any failures described. */
const petExample = { id: 10, name: 'doggie', status: 'available' };
const petstore = {
  openapi: '3.0.4',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pet/findByStatus': {
      get: {
        operationId: 'findPetsByStatus',
        security: [{ petstore_auth: ['read:pets'] }],
        parameters: [
          {
            name: 'status',
            in: 'query',
            required: true,
            explode: true,
            schema: { type: 'string', default: 'available', enum: ['available', 'pending', 'sold'] },
          },
        ],
        responses: {
          200: {
            description: 'Fine.',
            content: {
              'application/json': { schema: { type: 'array', items: ref('Pet') }, example: [petExample] },
              'application/xml': { schema: { type: 'array', items: ref('Pet') } },
            },
          },
          400: { description: 'Invalid status value' },
          default: { description: 'Unexpected error' },
        },
      },
    },
    '/pet/{petId}': {
      get: {
        operationId: 'getPetById',
        security: [{ api_key: [] }, { petstore_auth: ['read:pets'] }],
        parameters: [path('petId', { type: 'integer', format: 'int64' })],
        responses: {
          200: ok(ref('Pet'), petExample),
          400: { description: 'Invalid' },
          404: { description: 'None' },
          default: { description: 'Unexpected error' },
        },
      },
    },
    '/store/inventory': {
      get: {
        operationId: 'getInventory',
        security: [{ api_key: [] }],
        responses: {
          200: ok({ type: 'object', additionalProperties: { type: 'integer', format: 'int32' } }, { available: 3 }),
          default: { description: 'Unexpected error' },
        },
      },
    },
    '/user/createWithList': {
      post: {
        operationId: 'createUsersWithListInput',
        requestBody: { content: { 'application/json': { schema: { type: 'array', items: object({ username: { type: 'string' } }) } } } },
        responses: { 200: ok(object({})), default: { description: 'Unexpected error' } },
      },
    },
    '/user/{username}': {
      get: {
        operationId: 'getUserByName',
        parameters: [path('username')],
        responses: {
          200: ok(object({ username: { type: 'string' } }), { username: 'user1' }),
          404: { description: 'None' },
          default: { description: 'Unexpected error' },
        },
      },
    },
  },
  components: {
    securitySchemes: {
      petstore_auth: {
        type: 'oauth2',
        flows: { implicit: { authorizationUrl: 'https://pets.example/oauth', scopes: { 'read:pets': '' } } },
      },
      api_key: { type: 'apiKey', name: 'api_key', in: 'header' },
    },
    schemas: {
      Pet: object(
        {
          id: { type: 'integer', format: 'int64', example: 10 },
          name: { type: 'string', example: 'doggie' },
          status: { type: 'string', enum: ['available', 'pending', 'sold'] },
        },
        ['name'],
        { xml: { name: 'pet' } },
      ),
    },
  },
};

/** Like Oxide: 3.0, pages by token, names or identifiers, unions of objects with a tag, one shared failure. */
const disk = {
  id: 'b1f5c7a2-0c5e-4f0e-9b5e-0c1f5b7a2c5e',
  name: 'disk-1',
  state: { state: 'attached', instance: 'b1f5c7a2-0c5e-4f0e-9b5e-0c1f5b7a2c5f' },
};
const rack = {
  openapi: '3.0.3',
  info: { title: 'Rack', version: '20260131.0' },
  paths: {
    '/v1/disks': {
      get: {
        operationId: 'disk_list',
        parameters: [
          { name: 'limit', in: 'query', schema: { nullable: true, type: 'integer', format: 'uint32', minimum: 1 } },
          { name: 'page_token', in: 'query', schema: { nullable: true, type: 'string' } },
          { name: 'project', in: 'query', required: true, schema: ref('NameOrId') },
        ],
        responses: {
          200: ok(object({ items: { type: 'array', items: ref('Disk') }, next_page: { nullable: true, type: 'string' } }, ['items']), {
            items: [disk],
            next_page: null,
          }),
          '4XX': { $ref: '#/components/responses/Error' },
          '5XX': { $ref: '#/components/responses/Error' },
        },
      },
      post: {
        operationId: 'disk_create',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: object({ name: ref('Name'), size: { type: 'integer', format: 'uint64', minimum: 0 } }, ['name', 'size']),
            },
          },
        },
        responses: { 201: ok(ref('Disk')), '4XX': { $ref: '#/components/responses/Error' } },
      },
    },
    '/v1/disks/{disk}': {
      get: {
        operationId: 'disk_view',
        parameters: [path('disk', ref('NameOrId')), { name: 'project', in: 'query', schema: ref('NameOrId') }],
        responses: {
          200: ok(ref('Disk'), disk),
          '4XX': { $ref: '#/components/responses/Error' },
          '5XX': { $ref: '#/components/responses/Error' },
        },
      },
    },
  },
  components: {
    responses: { Error: failure(ref('Error')) },
    schemas: {
      Name: {
        type: 'string',
        pattern: '^(?![0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$)^[a-z]([a-zA-Z0-9-]*[a-zA-Z0-9]+)?$',
        minLength: 1,
        maxLength: 63,
      },
      NameOrId: {
        oneOf: [
          { title: 'id', allOf: [{ type: 'string', format: 'uuid' }] },
          { title: 'name', allOf: [ref('Name')] },
        ],
      },
      DiskState: {
        oneOf: [
          object({ state: { type: 'string', enum: ['detached'] } }, ['state']),
          object({ state: { type: 'string', enum: ['attached'] }, instance: { type: 'string', format: 'uuid' } }, ['state', 'instance']),
        ],
      },
      Disk: object({ id: { type: 'string', format: 'uuid' }, name: { allOf: [ref('Name')] }, state: ref('DiskState') }, [
        'id',
        'name',
        'state',
      ]),
      Error: object({ error_code: { type: 'string' }, message: { type: 'string' }, request_id: { type: 'string' } }, [
        'message',
        'request_id',
      ]),
    },
  },
};

/** A document, and the operations that a read-only run verifies. */
export interface Extract {
  readonly like: string;
  readonly document: unknown;
  readonly verified: readonly string[];
}

export const EXTRACTS: readonly Extract[] = [
  { like: 'DigitalOcean', document: cloud, verified: ['machines_list', 'machines_get', 'machines_list_backups'] },
  { like: 'Adyen', document: payments, verified: ['get-storedPaymentMethods'] },
  { like: 'OpenAI', document: models, verified: ['listModels', 'retrieveModel'] },
  { like: 'Twilio', document: messaging, verified: ['ListAccount', 'FetchAccount', 'ListMessage', 'FetchMessage'] },
  { like: 'train travel', document: trains, verified: ['get-stations', 'get-trips', 'get-bookings', 'get-booking'] },
  { like: 'museum', document: museum, verified: ['getMuseumHours', 'listSpecialEvents', 'getSpecialEvent', 'getTicketCode'] },
  { like: 'pet store', document: petstore, verified: ['findPetsByStatus', 'getPetById', 'getInventory'] },
  { like: 'Oxide', document: rack, verified: ['disk_list', 'disk_view'] },
];
