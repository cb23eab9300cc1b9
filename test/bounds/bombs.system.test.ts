import { deflateRawSync, deflateSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { armor, compressed, literal, packet, sealArmored, TAG } from '../support/faults-packets.ts'
import { BZIP2_BOMB } from '../support/openpgp-bzip2.ts'
import { fate, useScene } from './scene.ts'

const scene = useScene()

const ZIP = 1
const ZLIB = 2
const BZIP2 = 3
const MIB = 2 ** 20

let bomb: Buffer
let deflated: Buffer
beforeAll(() => {
  bomb = literal(Buffer.alloc(80 * MIB))
  deflated = deflateSync(bomb)
})

test('a compression bomb outside an encrypted message is `not-encrypted`', async () => {
  const bare = [compressed(ZLIB, deflated), compressed(BZIP2, BZIP2_BOMB)].map(armor)
  expect(await scene.fatesOf(bare)).toEqual(['damaged: not-encrypted', 'damaged: not-encrypted'])
})

test('a sealed compression bomb is `too-large` in ZIP, ZLIB and BZip2, and delays no other message', async () => {
  const bombs = [
    compressed(ZLIB, deflated),
    compressed(ZIP, deflateRawSync(bomb)),
    compressed(BZIP2, BZIP2_BOMB),
  ]
  const messages = await Promise.all(bombs.map((one) => sealArmored(one, scene.certificates)))
  const words = await sealArmored(literal('behind the bombs'), scene.certificates)
  const tooLarge = 'too-large: decompressed'
  const ten = Array.from({ length: 9 }, (_, n) => messages[n % messages.length] ?? '')
  expect(await scene.fatesOf([...ten, words])).toEqual([
    ...ten.map(() => tooLarge),
    'unsigned, delivered',
  ])
})

test('a compression bomb inside compressed data is `too-large`, and broken data are `damaged`', async () => {
  const nested = compressed(ZLIB, deflateSync(compressed(ZLIB, deflated)))
  const empty = compressed(ZLIB, deflateSync(Buffer.alloc(0)))
  const messages = [
    await sealArmored(nested, scene.certificates),
    await sealArmored(empty, scene.certificates),
    await sealArmored(compressed(99, deflated), scene.certificates),
    await sealArmored(compressed(ZLIB, deflated.subarray(0, 500)), scene.certificates),
  ]
  const fates = await scene.fatesOf(messages)
  expect(fates.map((one) => one.split(':')[0])).toEqual([
    'too-large',
    'damaged',
    'damaged',
    'too-large',
  ])
})

test('a sealed text of 90 000 characters is cut to 4000 as in a readable chat', async () => {
  const long = 'words '.repeat(15_000)
  const id = await scene.post(
    scene.sandbox.home.privateChat,
    await sealArmored(literal(long), scene.certificates),
  )
  const got = await scene.take()
  expect(fate(got, id)).toBe('unsigned, delivered')
  expect(got[0]?.text).toBe(long.slice(0, 4000).trimEnd())
})

test('a sealed literal packet with a false length is not delivered', async () => {
  const lying = Buffer.concat([
    Buffer.from([0xc0 | TAG.literal, 255, 0x7f, 0xff, 0xff, 0xff]),
    bomb,
  ])
  const messages = [
    await sealArmored(compressed(ZLIB, deflateSync(lying)), scene.certificates),
    await sealArmored(packet(TAG.compressed, Buffer.from([ZLIB])), scene.certificates),
  ]
  const fates = await scene.fatesOf(messages)
  expect(fates).toEqual(['too-large: decompressed', 'damaged: compression'])
})
