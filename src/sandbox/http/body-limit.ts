import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { apiError } from '../api-error.ts'

/** Methods whose bodies Fastify reads and limits; it ignores those of all others. */
const READ_BY_FASTIFY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

const declaredBytes = ({ raw }: FastifyRequest): number =>
  Number(raw.headers['content-length'] ?? 0)

/** Whether a request has a body that Fastify will not read: a GET with one, for example. */
export function hasOtherBody(request: FastifyRequest): boolean {
  const { method = '', headers } = request.raw
  const hasBody = headers['transfer-encoding'] !== undefined || declaredBytes(request) > 0
  return hasBody && !READ_BY_FASTIFY.has(method)
}

/**
 * Reads such a body. Call it at once: what comes meanwhile is lost.
 * @throws SandboxApiError `too_large` as soon as the body is over `maxBytes`
 */
export async function readOtherBody(request: FastifyRequest, maxBytes: number): Promise<Readable> {
  const { raw } = request
  const tooLarge = apiError('too_large', 'the body is over the limit')
  if (declaredBytes(request) > maxBytes) throw tooLarge
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  const chunks: Buffer[] = []
  let bytes = 0
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes > maxBytes) reject(tooLarge)
  }
  raw.on('data', onData)
  raw.once('end', () => resolve(Readable.from(chunks)))
  raw.once('error', reject)
  try {
    return await promise
  } finally {
    raw.off('data', onData)
  }
}
