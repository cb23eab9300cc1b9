import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/** Parts of a request that `fetch` does not allow to set: Host, Origin, any method, the framing. */
export interface RawRequest {
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string
}

/** One request on a connection of its own to a listener of this machine. */
export async function rawRequest(
  url: string,
  { body = '', path = '/', ...o }: RawRequest,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { port } = new URL(url)
  request({ host: '127.0.0.1', port, path, agent: false, ...o })
    .on('response', resolve)
    .on('error', reject)
    .end(body)
  const answer = await promise
  const { statusCode: status = 0, headers } = answer
  return { status, headers, body: await text(answer) }
}
