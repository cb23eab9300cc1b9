/** A file is no message: what a person sealed as a file does not become their words. */
import { expect, test } from 'vitest'
import { PeerPhone } from '../support/double-phones.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { fetched, named, sealedBy } from '../attachments/support.ts'

const stage = useStage()
const WORDS = '/pay mallory 1000'

async function read(from: Person, armored: string): Promise<Json> {
  const message = stage.double.world.message(stage.privateChat(from), from, { armored })
  return (await stage.deliver([message]))[0]
}

test.each([
  ['signed', true, 'orders.txt'],
  ['unsigned', false, 'orders.txt'],
  ['signed, with a short name', true, 'a'],
  ['signed and by a path', true, '/home/alice/orders.txt'],
  ['signed, under almost the name of none', true, '_CONSOLE.txt'],
])('a sealed text file in place of a message is withheld: %s', async (_how, isSigned, fileName) => {
  const from = await stage.person()
  const to = [stage.botCertificate]
  const armored = isSigned
    ? await from.phone.seal(WORDS, to, { fileName })
    : await from.phone.sealUnsigned(WORDS, to, { fileName })
  const message = await read(from, armored)
  expect(message).toMatchObject({
    armored,
    postern: { opened: false, verdict: 'damaged', reason: 'is-a-file' },
  })
  expect(JSON.stringify(message)).not.toContain(WORDS)
})

test.each([
  ['without a name', ''],
  ['for eyes only', '_CONSOLE'],
  ['as openpgp.js before its version 5', 'msg.txt'],
])('a sealed message is delivered: %s', async (_how, fileName) => {
  const from = await stage.person()
  const armored = await from.phone.seal(WORDS, [stage.botCertificate], { fileName })
  expect(await read(from, armored)).toMatchObject({ text: WORDS, postern: { verdict: 'verified' } })
})

test.each(['sq', 'rnp'] as const)('a sealed message made by %s is delivered', async (program) => {
  const from = stage.with(await PeerPhone.make(program))
  const armored = await from.phone.seal(WORDS, [stage.botCertificate])
  const message = stage.double.world.message(stage.privateChat(from), from, { armored })
  expect((await stage.deliver([message]))[0]).toMatchObject({ text: WORDS })
})

test('a sealed attachment is served with and without a file name', async () => {
  const from = await stage.person()
  const chat = stage.privateChat(from)
  for (const fileName of ['', 'orders.txt']) {
    const sealed = await sealedBy(from, stage, Buffer.from(WORDS + fileName), { fileName })
    const got = await fetched(stage, await named(stage, sealed, { chat, from }))
    expect([got.status, got.headers.get('postern-verdict')]).toEqual([200, 'verified'])
  }
})
