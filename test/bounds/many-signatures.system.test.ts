import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { armor, dearmored } from '../support/openpgp-framing.ts'
import { literal, packet, sealArmored, TAG } from '../support/faults-packets.ts'
import { useScene } from './scene.ts'

const scene = useScene()

/** A signature packet of the right shape that nobody made (RFC 9580, 5.2.3). */
function signature(type: number, keyId = randomBytes(8)): Buffer {
  const made = Buffer.alloc(4)
  made.writeUInt32BE(Math.floor(Date.now() / 1000) - 60)
  const hashed = Buffer.concat([Buffer.from([5, 2]), made])
  const unhashed = Buffer.concat([Buffer.from([9, 16]), keyId])
  const numbers = [1, 0, 0x80, ...randomBytes(31), 1, 0, 0x80, ...randomBytes(31)]
  const head = Buffer.from([4, type, 22, 8, 0, hashed.length])
  const body = [head, hashed, Buffer.from([0, unhashed.length]), unhashed, randomBytes(2)]
  return packet(TAG.signature, Buffer.concat([...body, Buffer.from(numbers)]))
}

const onePass = packet(TAG.onePassSignature, Buffer.from([3, 0, 8, 22, 1, 2, 3, 4, 5, 6, 7, 8, 1]))
const times = (count: number, make: () => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, make))

const sent = async (packets: Buffer[]): Promise<string[]> =>
  await scene.fatesOf(await Promise.all(packets.map((one) => sealArmored(one, scene.certificates))))

test('a message with 600 signatures is `too-many-packets`, and delays no other message', async () => {
  const words = literal('signed by a crowd')
  const fates = await sent([
    Buffer.concat([times(600, () => signature(0)), words]),
    Buffer.concat([times(600, () => onePass), words, times(600, () => signature(0))]),
    Buffer.concat([words, times(600, () => signature(0))]),
    words,
  ])
  expect(fates).toEqual([
    'damaged: too-many-packets',
    'damaged: too-many-packets',
    'damaged: too-many-packets',
    'unsigned, delivered',
  ])
})

test('a certificate with 450 false signatures is sealed to, and one with 2000 is unusable', async () => {
  const { control, home } = scene.sandbox
  const alice = await scene.sandbox.phone(home.alice.id)
  const bytes = dearmored(alice.certificate)
  const noise = (count: number) =>
    armor(Buffer.concat([bytes, times(count, () => signature(0x10))]), { type: 'PUBLIC KEY BLOCK' })
  const { fingerprint } = alice
  for (const [count, outcome] of [
    [450, 201],
    [2000, 409],
  ] as const) {
    await control.publishKey({ userId: home.alice.id, publicKey: noise(count), fingerprint })
    const { id: chatId } = await control.addRoom({
      kind: 'group',
      members: [home.alice.id, home.bot.id],
    })
    const body = { chatId, text: 'to a decorated key' }
    const { status, json } = await scene.meanwhile(scene.call('POST', '/messages', body))
    expect(status, json.error?.code).toBe(outcome)
  }
})
