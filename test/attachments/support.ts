/** What the tests of attachments ask of a stage: files stored, named, fetched. */
import { randomBytes } from 'node:crypto'
import { dearmored } from '../support/openpgp-framing.ts'
import type { SealOptions } from '../support/double-phones.ts'
import type { Person, Stage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { BOT_TOKEN, type DoubleChat, type ListedPerson } from '../support/double-world.ts'

export const BEARER = { authorization: `Bearer ${BOT_TOKEN}` }

/** What came of a request for a file. */
export interface Fetched {
  status: number
  headers: Headers
  body: Buffer
  /** Code of the error envelope; undefined for a file. */
  code: string | undefined
  message: string | undefined
}

/** Asks the sidecar for a path, with nothing but what is given. */
export async function fetched(
  stage: Stage,
  path: string,
  o: { headers?: Record<string, string>; method?: string; signal?: AbortSignal } = {},
): Promise<Fetched> {
  const { headers = {}, method = 'GET', signal } = o
  const response = await fetch(`${stage.sidecar.url}${path}`, {
    method,
    headers,
    ...(signal && { signal }),
  })
  const body = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const error = isJson && body.length > 0 ? JSON.parse(body.toString()).error : undefined
  const { status } = response
  return { status, headers: response.headers, body, code: error?.code, message: error?.message }
}

/** What comes of a file's url now: its verdict, `unsealed`, or the status and code of the refusal. */
export async function outcomeOf(...request: Parameters<typeof fetched>): Promise<string> {
  const { status, code, headers } = await fetched(...request)
  return status === 200 ? (headers.get('postern-verdict') ?? 'unsealed') : `${status} ${code}`
}

/** Stores a file and delivers a Message that names it; gives its url as the bot gets it. */
export async function named(
  stage: Stage,
  content: Buffer,
  o: { chat: DoubleChat; from: ListedPerson | null },
): Promise<string> {
  return await deliverItem(stage, stage.double.world.store(content), o)
}

/** Delivers a Message with a media item; gives the item's url as the bot gets it. */
export async function deliverItem(
  stage: Stage,
  item: Json,
  { chat, from }: { chat: DoubleChat; from: ListedPerson | null },
): Promise<string> {
  const message = stage.double.world.message(chat, from, { media: [{ ...item }] })
  const [read] = await stage.deliver([message])
  return read.media[0].url
}

interface SealedByOptions extends SealOptions {
  /** By the person; true when not given. */
  isSigned?: boolean
  /** People of a group that it is sealed to beside the bot. */
  others?: readonly Person[]
}

/** Seals a file to the bot, as binary data. */
export async function sealedBy(
  { phone }: Person,
  stage: Stage,
  content: Buffer,
  { isSigned = true, others = [], ...more }: SealedByOptions = {},
): Promise<Buffer> {
  const to = [stage.botCertificate, ...others.map((other) => other.phone.certificate)]
  return await phone.sealFile(content, to, { isSigned, ...more })
}

/** Signed packets, sealed to the bot by somebody: a binary message. */
export async function resealed({ phone }: Person, stage: Stage, signed: Buffer): Promise<Buffer> {
  return dearmored(await phone.sealPackets(signed, [stage.botCertificate]))
}

/** A picture as far as anybody looks: the head of a PNG, and bytes that stand nowhere else. */
export const picture = (length = 5000): Buffer =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), randomBytes(length)])
