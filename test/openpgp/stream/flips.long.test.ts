import { expect, test } from 'vitest'
import { openFile } from '../../support/bulk.ts'
import { MemoryRoom, contentOf } from '../../support/memory-room.ts'
import { KEY } from '../../support/openpgp-engine.ts'
import { packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk, seipdBody } from '../../support/openpgp-sealed.ts'
import { flipBit, flipByte } from '../../support/openpgp-flips.ts'

const recipient = pkesk(bot.subkey, KEY)
const by = { signer: alice.primary, atMs: NOW_MS }
const inner = (text: string): Buffer => signedLiteral(text, by)

const FILES: [string, Buffer][] = [
  ['a literal', packet(18, seipdBody(literal('content'), KEY))],
  ['signed and compressed', packet(18, seipdBody(compressed(inner('content'), 2), KEY))],
  ['in chunks', partialPacket(18, seipdBody(inner('content '.repeat(80)), KEY), [9])],
]

for (const [name, container] of FILES) {
  test(`a file (${name}) with any flipped bit in its container does not open`, async () => {
    const whole = concat(recipient, container)
    expect((await openFile(whole)).outcome).toBe('opened')
    const room = new MemoryRoom()
    for (let bit = 0; bit < container.length * 8; bit++) {
      const flipped = Buffer.from(whole)
      const at = recipient.length + (bit >> 3)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
      const { outcome } = await openFile(flipped, { pieces: 64, room })
      expect(outcome, `bit ${bit}`).not.toBe('opened')
    }
    expect(room.open).toBe(0)
  })

  test(`a file (${name}) that is truncated anywhere does not open`, async () => {
    const whole = concat(recipient, container)
    const room = new MemoryRoom()
    for (let length = 0; length < whole.length; length++) {
      const { outcome } = await openFile(whole.subarray(0, length), { pieces: 50, room })
      expect(outcome, `length ${length}`).not.toBe('opened')
    }
    expect(room.open).toBe(0)
  })
}

test('a file with any flipped bit in its PKESK packet opens with its own content or not at all', async () => {
  const [, container] = FILES[0] ?? ['', Buffer.alloc(0)]
  const whole = concat(recipient, container)
  for (let bit = 0; bit < recipient.length * 8; bit++) {
    const flipped = flipBit(whole, bit)
    const opened = await openFile(flipped)
    if (opened.outcome === 'opened') {
      expect((await contentOf(opened.file)).toString(), `bit ${bit}`).toBe('content')
    }
  }
})

test('a file with a flipped byte anywhere in its container is damaged as `decryption`', async () => {
  const body = seipdBody(inner('content '.repeat(2000)), KEY)
  const reasons = new Set<string>()
  for (const at of [2, 18, 19, 30, 5000, body.length - 23, body.length - 21, body.length - 1]) {
    const flipped = flipByte(body, at)
    const opened = await openFile(concat(recipient, packet(18, flipped)))
    reasons.add(JSON.stringify(opened))
  }
  expect([...reasons]).toEqual([JSON.stringify({ outcome: 'damaged', reason: 'decryption' })])
})
