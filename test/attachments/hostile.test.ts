import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import {
  TAG,
  compressed,
  container,
  keyIdsOf,
  literal,
  packet,
  recipients,
  sealPackets,
} from '../support/faults-packets.ts'
import { forgetPeak, peakBytes } from '../support/sidecar-process.ts'
import { fetched, named, picture, sealedBy } from './support.ts'

const stage = useStage()
const MIB = 2 ** 20
const STRANGER = '00112233aabbccdd'
/** What one file may add to the sidecar's memory; most of these would add many times that. */
const GROWTH = 192 * MIB

/** Packets that anybody may put into a file for the bot, whole and with a good hash. */
async function sealed(inside: Buffer): Promise<Buffer> {
  const { recipients: ours, container: data } = await sealPackets(inside, [stage.botCertificate])
  return Buffer.concat([ours, data])
}

const bomb = (bytes: number): Buffer =>
  compressed(1, deflateRawSync(literal(Buffer.alloc(bytes)), { level: 1 }))

const FILES: [string, () => Buffer | Promise<Buffer>, string][] = [
  ['8 MiB of recipients', () => flood(85, STRANGER), '413 postern_media_too_large'],
  ['8 MiB of nameless recipients', () => flood(85), '413 postern_media_too_large'],
  ['thousands of recipients', () => flood(4, STRANGER), '422 postern_not_recipient'],
  ['thousands of nameless recipients', () => flood(4), '422 postern_not_recipient'],
  [
    'thousands of recipients that name the bot',
    async () => flood(4, await ourKeyId()),
    '422 postern_damaged',
  ],
  [
    '64 MiB and a byte',
    () => sealed(literal(Buffer.alloc(64 * MIB + 1))),
    '413 postern_media_too_large',
  ],
  [
    '64 MiB and a byte, not sealed',
    () => Buffer.alloc(64 * MIB + 1),
    '413 postern_media_too_large',
  ],
  ['a bomb of 200 MiB', () => sealed(bomb(200 * MIB)), '413 postern_media_too_large'],
  [
    'a bomb in a bomb',
    () => sealed(compressed(1, deflateRawSync(bomb(200 * MIB)))),
    '413 postern_media_too_large',
  ],
  [
    'many literals',
    () => sealed(Buffer.concat(Array.from({ length: 20_000 }, () => literal('x')))),
    '422 postern_damaged',
  ],
  [
    'thousands of signatures',
    () =>
      sealed(
        Buffer.concat(
          Array.from({ length: 20_000 }, () => packet(TAG.signature, Buffer.alloc(80, 4))),
        ),
      ),
    '422 postern_damaged',
  ],
  ['one line of 3 MiB', () => armoredLine(3 * MIB), '422 postern_damaged'],
]

/** @param thousands of recipient packets, of which each thousand is the same */
function flood(thousands: number, keyId?: string): Buffer {
  const thousand = recipients(1000, keyId)
  const all = Array.from({ length: thousands }, () => thousand)
  return Buffer.concat([...all, container(5000)])
}

async function ourKeyId(): Promise<string> {
  return (await keyIdsOf(stage.botCertificate))[1] ?? ''
}

/** Armor around recipients, in one line. */
function armoredLine(bytes: number): Buffer {
  const base64 = recipients(Math.ceil(bytes / 96), STRANGER).toString('base64')
  return Buffer.from(`-----BEGIN PGP MESSAGE-----\n\n${base64}\n-----END PGP MESSAGE-----\n`)
}

test.each(FILES)(
  'a file with %s is refused within a bound of memory, and another file beside it is served',
  { timeout: 180_000 },
  async (name, make, outcome) => {
    const from = await stage.friend()
    const chat = stage.privateChat(from)
    // What nobody sealed is given in a readable chat alone.
    const isPlain = name.includes('not sealed')
    const place = isPlain ? stage.openGroup() : chat
    const bad = await named(stage, await make(), { chat: place, from })
    const good = picture()
    const other = await named(stage, await sealedBy(from, stage, good), { chat, from })
    const before = peakBytes(stage.sidecar.pid)
    forgetPeak(stage.sidecar.pid)
    const [{ status, code, body }, beside, me] = await Promise.all([
      fetched(stage, bad),
      fetched(stage, other),
      stage.sidecar.call('GET', '/me'),
    ])
    expect(`${status} ${code}`).toBe(outcome)
    expect(body.length).toBeLessThan(1000)
    expect(beside.body).toEqual(good)
    expect(me.status).toBe(200)
    expect(peakBytes(stage.sidecar.pid) - before).toBeLessThan(GROWTH)
  },
)

test('hostile files leave no open download and no spooled bytes', async () => {
  const { adminUrl } = stage.sidecar
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^postern_media_openings 0$/m)
  expect(Number(/^postern_media_spool_bytes (\d+)$/m.exec(metrics)?.[1])).toBeLessThan(2 * MIB)
  expect(metrics).toMatch(/^postern_media_total\{outcome="postern_media_too_large"\} \d+$/m)
})

test('a file with a flipped bit in its last block is refused without one byte of it', async () => {
  const from = await stage.friend()
  const whole = await sealed(literal(Buffer.alloc(5 * MIB, 'x')))
  whole[whole.length - 1] = (whole.at(-1) ?? 0) ^ 1
  const url = await named(stage, whole, { chat: stage.privateChat(from), from })
  for (const headers of [{}, { range: 'bytes=0-9' }]) {
    const { status, code, body } = await fetched(stage, url, { headers })
    expect({ status, code }).toEqual({ status: 422, code: 'postern_damaged' })
    expect(body.includes('xxx')).toBe(false)
  }
})
