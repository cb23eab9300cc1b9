import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { apiError } from '../api-error.ts'

/** Methods whose bodies Fastify reads and limits; it ignores those of all others. */
const READ_BY_FASTIFY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Whether a request has a body that Fastify will not read: a GET with one, for example. */
export function hasOtherBody({ raw }: FastifyRequest): boolean {
  const { method = '', headers } = raw
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return hasBody && !READ_BY_FASTIFY.has(method)
}

/**
 * Reads such a body. Call it at once: bytes that arrive before are lost.
 * @throws SandboxApiError `too_large` as soon as the body is over `maxBytes`
 */
export async function readOtherBody({ raw }: FastifyRequest, maxBytes: number): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  const chunks: Buffer[] = []
  let bytes = 0
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes > maxBytes) reject(apiError('too_large', 'the body is over the limit'))
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
