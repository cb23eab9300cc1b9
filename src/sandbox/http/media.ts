import type { FastifyReply, FastifyRequest } from 'fastify'
import { parse } from 'range-parser'
import { apiError } from '../api-error.ts'
import type { World } from '../world.ts'

/** Of the result of `range-parser`: a range beyond the end of the file. */
const UNSATISFIABLE = 2

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

/**
 * The range of a request: its first byte and the one after its last; null when the whole file is
 * asked for. `If-Range` names a version of the file, and no file here has one.
 */
function rangeOf({ range = '', 'if-range': ifRange }: FastifyRequest['headers'], length: number) {
  const { code, type, ranges } = parse(length, range)
  if (type !== 'bytes' || range.includes(',') || ifRange !== undefined) return null
  if (code === UNSATISFIABLE) return 'unsatisfiable'
  const [one] = ranges
  return one === undefined ? null : { start: one.start, end: one.end + 1 }
}
