import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FaultName } from './table.ts'
import type { Fault } from './faults.ts'

interface Struck {
  fault: Fault
  request: FastifyRequest
  reply: FastifyReply
  body: Buffer
}

/** What each fault does to an answer after the deed; gives what is to be sent instead. */
const AFTER: Partial<Record<FaultName, (struck: Struck) => Buffer | Readable>> = {
  'lost-answer': ({ request, body }) => {
    request.raw.socket.destroy()
    return body
  },
  'half-answer': ({ request, reply, body }) => {
    reply.header('content-length', body.length)
    return Readable.from(half(body, request))
  },
  'slow-body': ({ fault, reply, body }) => {
    reply.header('content-length', body.length)
    return Readable.from(drip(body, fault.delayMs ?? 1000))
  },
  'giant-body': ({ fault, reply, body }) => {
    const bytes = fault.bytes ?? 64 * 1024 * 1024
    reply.header('content-length', body.length + bytes)
    return Readable.from(padded(body, bytes))
  },
  'invalid-json': ({ body }) => body.subarray(0, -1),
}

/** Lets faults strike an answer. Takes its body, gives what is sent. */
export function strikeAfter(
  faults: Fault[],
  call: { request: FastifyRequest; reply: FastifyReply; body: Buffer },
): Buffer | Readable {
  const [fault] = faults
  return (fault && AFTER[fault.name]?.({ fault, ...call })) ?? call.body
}

async function* half(body: Buffer, request: FastifyRequest): AsyncGenerator<Buffer> {
  yield body.subarray(0, body.length >> 1)
  await pause(1)
  request.raw.socket.destroy()
}

async function* drip(body: Buffer, delayMs: number): AsyncGenerator<Buffer> {
  for (const byte of body) {
    await pause(delayMs, undefined, { ref: false })
    yield Buffer.of(byte)
  }
}

function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  yield body
  const blanks = Buffer.alloc(65_536, 0x20)
  for (let left = bytes; left > 0; left -= blanks.length) {
    yield blanks.subarray(0, Math.min(left, blanks.length))
  }
}
