import type { FastifyReply, FastifyRequest } from 'fastify'
import { apiError } from '../api-error.ts'
import type { World } from '../world.ts'

/** A part of a file: its first byte and the one after its last. */
interface FileRange {
  start: number
  end: number
}

/**
 * Answers a GET or HEAD for a file: whole, or the one range that the request names (RFC 9110, 14).
 * Several ranges, and a range of another unit, are answered with the whole file.
 * @throws SandboxApiError `media_not_found`
 */
export function answerMedia(
  world: World,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const { id } = request.params as { id: string }
  const file = world.files.get(id)
  if (file === undefined) throw apiError('media_not_found', 'no such file')
  // No browser may interpret a file of a stranger as a page or a script.
  reply.type('application/octet-stream').header('x-content-type-options', 'nosniff')
  reply.header('accept-ranges', 'bytes')
  const range = request.method === 'GET' ? rangeOf(request.headers, file.length) : null
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${file.length}`).send(Buffer.alloc(0))
  }
  const { start, end } = range ?? { start: 0, end: file.length }
  if (range !== null) {
    reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.length}`)
  }
  if (request.method === 'HEAD') return reply.header('content-length', file.length).send('')
  return reply.send(file.subarray(start, end))
}

const RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/**
 * The range of a request; null when the whole file is asked for. `If-Range` names a version of the
 * file, and no file here has one.
 */
function rangeOf(
  headers: FastifyRequest['headers'],
  length: number,
): FileRange | 'unsatisfiable' | null {
  const [matched, first, last, suffix] = RANGE.exec(headers.range?.trim() ?? '') ?? []
  if (matched === undefined || headers['if-range'] !== undefined) return null
  if (suffix !== undefined) {
    const count = Math.min(Number(suffix), length)
    return count === 0 ? 'unsatisfiable' : { start: length - count, end: length }
  }
  const start = Number(first)
  const end = last === '' ? length : Math.min(Number(last) + 1, length)
  if (last !== '' && Number(last) < start) return null
  return start >= length ? 'unsatisfiable' : { start, end }
}
