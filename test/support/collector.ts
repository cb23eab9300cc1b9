/** A collector of traces that keeps every span that it is sent, as OTLP's JSON has them. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listening } from './listening.ts'
import { canaries } from './canaries.ts'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }

/** A span as it arrived, its attributes by their names. */
export interface CollectedSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code: number }
  attributes: Record<string, string>
}

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: CollectedSpan[]
  /** Of each export: the path, the headers, and the attributes of the process. */
  readonly exports: {
    path: string
    headers: IncomingHttpHeaders
    resource: Record<string, string>
  }[]
  /** All that arrived, as bytes. */
  text: () => string
}

const named = (attributes: Attribute[]): Record<string, string> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
  )

/**
 * Starts one, which ends with the test. What it is sent is searched for secrets and words like a log.
 * @param answer the status of its answers; null: it never answers
 */
export async function startCollector(answer: () => number | null = () => 200): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const exports: Collector['exports'] = []
  let text = ''
  canaries()?.watch('what a collector received', () => text)
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      text += body
      const status = answer()
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: {
          resource: { attributes: Attribute[] }
          scopeSpans: { spans: (CollectedSpan & { attributes: Attribute[] })[] }[]
        }[]
      }
      for (const { resource, scopeSpans } of resourceSpans) {
        const { url = '', headers } = request
        exports.push({ path: url, headers, resource: named(resource.attributes) })
        for (const one of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({ ...one, attributes: named(one.attributes) })
        }
      }
      if (status !== null) response.writeHead(status, { location: '/elsewhere' }).end('{}')
    })
  })
  return { url: await listening(server), spans, exports, text: () => text }
}
