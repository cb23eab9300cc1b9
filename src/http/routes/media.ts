import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parse } from 'range-parser'
import { MEDIA_ID } from '../../api/updates.ts'
import { Refusal } from '../../errors.ts'
import { counted } from '../../printable.ts'
import type { Attachment } from '../../attachments/attachment.ts'
import type { Attachments } from '../../attachments/attachments.ts'
import { OWN_CALL, type ClientAct } from '../../clients/may-client.ts'
import { failureAnswer } from '../error-handler.ts'
import { queryOf, textParam } from '../params.ts'
import { joined } from '../../service/headers.ts'
import { admitted, isGone } from '../relay.ts'
import type { DoorRoute, DoorTools } from '../server.ts'

/** No browser runs, caches or shares a file of any content under these headers. */
const GUARDED = {
  'x-content-type-options': 'nosniff',
  'content-disposition': 'attachment',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
  'accept-ranges': 'bytes',
}

/**
 * `GET` and `HEAD /media/{id}`: an attachment, whole and checked before its first byte leaves. It
 * needs the url of an update, or the bot's token where an update named the id.
 */
export const mediaRoute =
  (attachments: Attachments): DoorRoute =>
  (app, tools) => {
    app.route({
      method: ['GET', 'HEAD'],
      url: '/media/:id',
      config: { anonymous: true },
      handler: async (request, reply) => {
        const handle = await acquire(request, reply, { attachments, tools })
        reply.raw.once('close', () => handle.release())
        await admitted(request).ask()
        if (!isGone(reply)) return answer(request, reply, handle.value)
        handle.release()
        return reply.hijack()
      },
    })
  }

const FETCH: ClientAct = { call: 'getMedia', chatIds: [] }

async function acquire(
  request: FastifyRequest,
  reply: FastifyReply,
  { attachments, tools }: { attachments: Attachments; tools: DoorTools },
) {
  const id = textParam(request, 'id')
  const byUrl = MEDIA_ID.test(id) ? await attachments.byUrl(id, queryOf(request).slice(1)) : null
  // the bot's url gives the right by itself
  if (byUrl !== null) request.stillMay = OWN_CALL
  if (byUrl !== null) return byUrl
  tools.authorize(request, reply)
  if (!MEDIA_ID.test(id)) throw new Refusal('media_not_found', 'no such file')
  const { client } = request
  const asks = client && { name: client.name, takeCall: () => tools.takeCall(client.name, FETCH) }
  return await attachments.named(id, asks, (place) =>
    tools.admit(request, { ...FETCH, chatIds: place === null ? [] : [place.chatId] }),
  )
}

function answer(request: FastifyRequest, reply: FastifyReply, found: Attachment): FastifyReply {
  const { file, contentType, verdict, signer, signedAtMs } = found
  const tag = `"${found.tag}"`
  const isHead = request.method === 'HEAD'
  const { range, 'if-range': ifRange } = request.headers
  const asked = { range: isHead ? undefined : range, ifRange: ifRange && joined(ifRange) }
  const part = readRange(asked, { bytes: file.bytes, tag })
  reply.headers({ ...GUARDED, etag: tag })
  if (verdict !== null) reply.header('postern-verdict', verdict)
  if (signer !== undefined) reply.header('postern-signer', signer)
  if (signedAtMs !== undefined) reply.header('postern-signed-at', signedAtMs)
  if (part === 'unsatisfiable') return refuseRange(reply, file.bytes)
  const { start, end } = part ?? { start: 0, end: file.bytes }
  if (part !== null) reply.header('content-range', `bytes ${start}-${end - 1}/${file.bytes}`)
  reply
    .code(part === null ? 200 : 206)
    .header('content-length', end - start)
    .type(contentType)
  if (isHead) return reply.send()
  return reply.send(Readable.from(file.read(start, end), { signal: admitted(request).ended }))
}

function refuseRange(reply: FastifyReply, bytes: number): FastifyReply {
  const message = `Range: the file has ${counted(bytes, 'byte')}`
  const failed = failureAnswer({ status: 416, code: 'bad_request', message })
  reply.request.failedWith = failed.code
  return reply
    .code(failed.status)
    .headers({ ...failed.headers, 'content-range': `bytes */${bytes}` })
    .send(failed.body)
}

/** Of the result of `range-parser`: a range beyond the end of the file. */
const UNSATISFIABLE = 2

/**
 * Reads the `Range` of a GET against a file: the part of it that is asked for (RFC 9110, 14).
 * @param asked `ifRange` is the tag of the content for the range: other content is given whole
 * @param file `tag` is that of its content, in quotes
 * @returns from `start` up to, not including, `end`; null for the whole file, also for several ranges and malformed ones;
 *   `unsatisfiable` where the file has no byte of the range
 */
export function readRange(
  { range = '', ifRange }: { range: string | undefined; ifRange: string | undefined },
  file: { bytes: number; tag: string },
) {
  const { code, type, ranges } = parse(file.bytes, range)
  if (type !== 'bytes' || range.includes(',')) return null
  if (ifRange !== undefined && ifRange !== file.tag) return null
  if (code === UNSATISFIABLE) return 'unsatisfiable'
  const [one] = ranges
  return one === undefined ? null : { start: one.start, end: one.end + 1 }
}
