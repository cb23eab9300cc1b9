import { z } from 'zod'
import { API_PREFIX, ENDPOINTS, type Endpoint } from '../../api/endpoints.ts'
import { BodyKind } from '../../api/envelope.ts'
import { ERROR_STATUS, type ErrorCode } from '../../api/error-codes.ts'
import fixed from './bot.json' with { type: 'json' }
import { DESCRIBED, PATH_PARAMETERS, type DescribedEndpoint } from './bot-endpoints.ts'
import { named, Update } from './bot-results.ts'
import { headOf, jsonContent, SchemaCollector, successOf, type JsonSchema } from './schemas.ts'

/** What does not follow from the endpoints: files, deliveries, and the token. */
const { security, media, webhooks, securitySchemes } = fixed
const SECONDS: JsonSchema = { type: 'integer', description: 'seconds to wait' }

const ErrorEnvelope = named('ErrorEnvelope', {
  ok: z.literal(false),
  error: z.looseObject({
    status: z.int().describe('that of the HTTP line'),
    code: z.string().describe('stable; read one that you do not know by its status'),
    message: z.string().describe('for a human who reads a log'),
    retryAfter: z.int().optional().describe('seconds, on 429; `Retry-After` counts'),
    expected: BodyKind.optional().describe('the body that the chat takes'),
  }),
})

/**
 * The bot API as an OpenAPI 3.1 document, from the endpoints and schemas of `src/api`.
 * @param serviceUrl scheme and host of the service, without `/bot/v1`
 */
export function botDocument(serviceUrl: string): object {
  const collector = new SchemaCollector()
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of ENDPOINTS) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    const operation = operationOf(endpoint, collector)
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation }
  }
  collector.of(Update)
  collector.of(ErrorEnvelope)
  return {
    ...headOf(
      'Bot Messaging Service API',
      'What a bot can ask of the service. Take unknown fields and unknown codes.',
    ),
    servers: [{ url: serviceUrl + API_PREFIX }],
    security,
    paths: { ...paths, '/media/{id}': { servers: [{ url: serviceUrl }], ...media } },
    webhooks,
    components: { securitySchemes, schemas: collector.components },
  }
}

function operationOf(endpoint: Endpoint, collector: SchemaCollector) {
  const described = DESCRIBED[endpoint.name]
  const { summary, body, isBodyOptional, result, created } = described
  const parameters = parametersOf(endpoint.path, described.query, collector)
  const success = successOf(collector.of(result))
  return {
    operationId: endpoint.name,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: isBodyOptional !== true, ...jsonContent(collector.of(body)) },
    }),
    responses: {
      '200': success,
      ...(created === true && { '201': success }),
      ...refusalsOf(codesOf(endpoint, described)),
    },
  }
}

function parametersOf(path: string, query: z.ZodObject | undefined, collector: SchemaCollector) {
  const parameter = (where: 'path' | 'query', name: string, schema: z.ZodType = z.unknown()) => {
    return { name, in: where, required: where === 'path', schema: collector.of(schema) }
  }
  const inPath = path.matchAll(/:(\w+)/g)
  return [
    ...Array.from(inPath, ([, name = '']) => parameter('path', name, PATH_PARAMETERS[name])),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) =>
      parameter('query', name, schema as z.ZodType),
    ),
  ]
}

function codesOf(endpoint: Endpoint, { query, body, errors = [] }: DescribedEndpoint): ErrorCode[] {
  const inputErrors = query === undefined && body === undefined ? [] : (['bad_request'] as const)
  const codes: ErrorCode[] = ['unauthorized', ...inputErrors, ...errors, 'rate_limited', 'internal']
  if (!('whilePaused' in endpoint)) codes.push('bot_paused')
  if (body !== undefined) codes.push('too_large')
  return codes
}

/** The answers that refuse, by status; the description of each names its codes. */
function refusalsOf(codes: readonly ErrorCode[]): Record<string, object> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code])
  const refusals = Array.from(byStatus, ([status, those]) => [status, refusalOf(status, those)])
  return Object.fromEntries(refusals) as Record<string, object>
}

const refusalOf = (status: number, codes: readonly ErrorCode[]): object => ({
  description: codes.map((code) => `\`${code}\``).join(', '),
  ...(status === 429 && { headers: { 'Retry-After': { required: true, schema: SECONDS } } }),
  ...jsonContent({ $ref: '#/components/schemas/ErrorEnvelope' }),
})
