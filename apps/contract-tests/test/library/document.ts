/** A document of another style than ours: OpenAPI 3.0, bearer tokens, JSON bodies, identifiers in lists, examples at properties. */
const problem = {
  description: 'What went wrong.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

function json(schema: unknown): unknown {
  return { 'application/json': { schema } };
}

function ref(name: string): unknown {
  return { $ref: `#/components/schemas/${name}` };
}

const REFUSALS = { 401: problem, 404: problem, 405: problem };
const bookId = { name: 'bookId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } };
const loanId = { name: 'loanId', in: 'path', required: true, schema: { type: 'string' } };

export const LIBRARY_DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Library', version: '2' },
  security: [{ bearer: [] }],
  paths: {
    '/health': {
      get: { operationId: 'getHealth', security: [], responses: { 200: { description: 'Alive.', content: json(ref('Health')) } } },
    },
    '/books': {
      get: {
        operationId: 'listBooks',
        parameters: [{ name: 'shelf', in: 'query', required: true, schema: { type: 'string', enum: ['fiction', 'science'] } }],
        responses: {
          200: {
            description: 'The books of a shelf.',
            headers: {
              'X-Total': { required: true, schema: { type: 'integer' } },
              'X-Cost': { schema: { type: 'integer' } },
            },
            content: json({ type: 'object', required: ['books'], properties: { books: { type: 'array', items: ref('Book') } } }),
          },
          400: problem,
          ...REFUSALS,
        },
      },
      post: {
        operationId: 'addBook',
        requestBody: { required: true, content: json(ref('NewBook')) },
        responses: { 201: { description: 'Added.', content: json(ref('Book')) }, 422: problem, ...REFUSALS },
      },
    },
    '/books/{bookId}': {
      parameters: [bookId],
      get: { operationId: 'getBook', responses: { 200: { description: 'A book.', content: json(ref('Book')) }, ...REFUSALS } },
      put: {
        operationId: 'replaceBook',
        requestBody: { required: true, content: json(ref('NewBook')) },
        responses: { 200: { description: 'Replaced.', content: json(ref('Book')) }, 422: problem, ...REFUSALS },
      },
      delete: { operationId: 'removeBook', responses: { 204: { description: 'Removed.' }, ...REFUSALS } },
    },
    '/books/{bookId}/loans': {
      parameters: [bookId],
      get: {
        operationId: 'listLoans',
        responses: { 200: { description: 'The loans of a book.', content: json({ type: 'array', items: ref('Loan') }) }, ...REFUSALS },
      },
    },
    '/books/{bookId}/loans/{loanId}': {
      parameters: [bookId, loanId],
      get: { operationId: 'getLoan', responses: { 200: { description: 'A loan.', content: json(ref('Loan')) }, ...REFUSALS } },
    },
    '/members': {
      get: {
        operationId: 'listMembers',
        parameters: [{ name: 'cursor', in: 'query', schema: { type: 'string' } }],
        responses: {
          200: {
            description: 'A page of members.',
            content: json({
              type: 'object',
              required: ['items'],
              properties: {
                items: { type: 'array', maxItems: 3, items: ref('Member') },
                next_cursor: { type: 'string', nullable: true },
              },
            }),
          },
          ...REFUSALS,
        },
      },
    },
    '/members/{member_id}': {
      get: {
        operationId: 'getMember',
        parameters: [{ name: 'member_id', in: 'path', required: true, schema: { type: 'string', pattern: '^m-' } }],
        responses: { 200: { description: 'A member.', content: json(ref('Member')) }, ...REFUSALS },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Health: { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['up'] } } },
      Problem: {
        type: 'object',
        required: ['title', 'status'],
        properties: { title: { type: 'string' }, status: { type: 'integer' } },
      },
      NewBook: {
        type: 'object',
        additionalProperties: false,
        required: ['title', 'isbn', 'pages'],
        properties: {
          title: { type: 'string', minLength: 1, maxLength: 40, example: 'The Left Hand of Darkness' },
          isbn: { type: 'string', pattern: '^[0-9-]{10,17}$', example: '978-0-441-47812-5' },
          pages: { type: 'integer', minimum: 1, maximum: 5000, example: 304 },
          shelf: { type: 'string', enum: ['fiction', 'science'], example: 'fiction' },
          available: { type: 'boolean', example: true },
        },
      },
      Book: {
        type: 'object',
        required: ['id', 'title', 'isbn', 'pages', 'shelf', 'added'],
        properties: {
          id: { type: 'integer', format: 'int64' },
          title: { type: 'string' },
          isbn: { type: 'string', pattern: '^[0-9-]{10,17}$' },
          pages: { type: 'integer', minimum: 1 },
          shelf: { type: 'string', enum: ['fiction', 'science'] },
          available: { type: 'boolean' },
          added: { type: 'string', format: 'date-time' },
        },
      },
      Loan: {
        type: 'object',
        required: ['id', 'member', 'fee', 'due'],
        properties: {
          id: { type: 'string' },
          member: { type: 'string' },
          fee: { type: 'number', multipleOf: 0.01 },
          due: { type: 'string', format: 'date' },
        },
      },
      Member: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string', pattern: '^m-' },
          name: { type: 'string' },
          email: { type: 'string', format: 'email', nullable: true },
        },
      },
    },
  },
} as const;
