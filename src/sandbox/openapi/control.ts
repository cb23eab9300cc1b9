import { z } from 'zod'
import { ALL_OPERATIONS } from '../control/table.ts'
import fixed from './control.json' with { type: 'json' }
import { headOf, jsonContent, named, SchemaCollector, successOf } from './schemas.ts'

/** What does not follow from the operations: the stream of events, and the token. */
const { security, events, securitySchemes } = fixed

/** The response of every refusal. */
const REFUSED = { $ref: '#/components/responses/Refused' }
const Refusal = named('Refusal', {
  ok: z.literal(false),
  error: z.object({
    status: z.int(),
    code: z.string().describe('`bad_control`: the operation cannot be done as it was asked for'),
    message: z.string().describe('what was wrong, and with which field'),
  }),
})

/**
 * The control as an OpenAPI 3.1 document, from the table of its operations.
 * @param controlUrl of the control listener
 */
export function controlDocument(controlUrl: string): object {
  const collector = new SchemaCollector()
  const refused = {
    description: 'refused: nothing was changed',
    ...jsonContent(collector.of(Refusal)),
  }
  const paths = ALL_OPERATIONS.map((entry) => {
    const stream = entry[0] === 'events' ? { get: events } : {}
    return [`/${entry[0]}`, { ...stream, post: operationOf(entry, collector) }]
  })
  return {
    ...headOf(
      'Control of the Postern sandbox',
      'What people, a bot’s owner and a tester do to a sandbox of the Bot Messaging Service.',
    ),
    servers: [{ url: controlUrl }],
    security,
    paths: Object.fromEntries(paths) as object,
    components: { schemas: collector.components, responses: { Refused: refused }, securitySchemes },
  }
}

const operationOf = (
  [name, { description, input, output }]: (typeof ALL_OPERATIONS)[number],
  collector: SchemaCollector,
): object => ({
  operationId: name,
  summary: description.split(/(?<=[.;:])\s/)[0],
  description,
  requestBody: { required: !input.safeParse({}).success, ...jsonContent(collector.of(input)) },
  responses: { '200': successOf(collector.of(output)), default: REFUSED },
})
