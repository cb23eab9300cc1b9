import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Sandbox } from '../../src/sandbox/create.ts'
import type { ApiResponseError } from './support.ts'

/** One request on a connection of its own, its body framed as asked. Gives what it comes to. */
export async function exchange(
  sandbox: Sandbox,
  o: {
    method: string
    path: string
    body: string
    framing: 'content-length' | 'chunked'
    authorization: string
  },
): Promise<{ status: number; code: string | undefined }> {
  const { method, path, body, authorization } = o
  const framing =
    o.framing === 'chunked'
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(body.length) }
  const type = { 'content-type': 'application/json' }
  const headers = { authorization, ...type, ...framing }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(sandbox.url + path, { method, headers, agent: false })
    .on('response', resolve)
    .on('error', reject)
    .end(body)
  const answer = await promise
  const read = await text(answer)
  const { error } = JSON.parse(read === '' ? '{}' : read) as { error?: ApiResponseError }
  return { status: answer.statusCode ?? 0, code: error?.code }
}
