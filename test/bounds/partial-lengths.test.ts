import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { dearmored } from '../support/faults-certificates.ts'
import {
  armor,
  literal,
  packet,
  partial,
  recipients,
  sealArmored,
  sealPackets,
  TAG,
} from '../support/faults-packets.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const WORDS = literal('a text that is long enough for two chunks of its own '.repeat(40))

/** The container of a sealed message, framed anew. */
async function framed(exponent: number): Promise<string> {
  const sealed = await sealPackets(WORDS, scene.certificates)
  const body = dearmored(armor(sealed.container)).subarray(sealed.container.length > 8384 ? 6 : 3)
  return armor(Buffer.concat([sealed.recipients, partial(TAG.seipd, body, exponent)]))
}

test('a message in partial chunks of 512 bytes opens', async () => {
  expect(await scene.fatesOf([await framed(9)])).toEqual(['unsigned, delivered'])
})

test('a message in partial chunks below 512 bytes is `partial-length`', async () => {
  const refused = 'damaged: partial-length'
  const long = partial(TAG.seipd, randomBytes(40_000), 0)
  const messages = [
    await framed(8),
    await framed(0),
    armor(Buffer.concat([recipients(1), long])),
    armor(Buffer.concat([recipients(1), Buffer.alloc(90_000, 0xe0)])),
  ]
  expect(await scene.fatesOf([...messages, await framed(9)])).toEqual([
    refused,
    refused,
    refused,
    refused,
    'unsigned, delivered',
  ])
})

test('a PKESK packet in partial chunks is `partial-tag`', async () => {
  const chunked = partial(TAG.pkesk, randomBytes(4000), 9)
  const { container } = await sealPackets(WORDS, scene.certificates)
  expect(await scene.fatesOf([armor(Buffer.concat([chunked, container]))])).toEqual([
    'damaged: partial-tag',
  ])
})

test('a packet with a length beyond the end of the message is damaged', async () => {
  const beyond = Buffer.from([0xc0 | TAG.seipd, 255, 0xff, 0xff, 0xff, 0xff, 1, 2, 3])
  expect(await scene.fatesOf([armor(Buffer.concat([recipients(1), beyond]))])).toEqual([
    'damaged: length',
  ])
})

test('a sealed literal packet in chunks of one byte is damaged, in chunks of 512 bytes delivered', async () => {
  const body = Buffer.concat([Buffer.from('u\0\0\0\0\0', 'latin1'), randomBytes(30_000)])
  const messages = [
    await sealArmored(partial(TAG.literal, body, 0), scene.certificates),
    await sealArmored(Buffer.alloc(50_000, 0xe0), scene.certificates),
    await sealArmored(partial(TAG.literal, WORDS.subarray(3), 9), scene.certificates),
    await sealArmored(packet(TAG.marker, Buffer.from('PGP')), scene.certificates),
  ]
  expect(await scene.fatesOf(messages)).toEqual([
    'damaged: partial-length',
    'damaged: partial-length',
    'unsigned, delivered',
    'damaged: structure',
  ])
})
