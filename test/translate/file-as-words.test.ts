/** A file is no message: what a person sealed as a file does not become their words. */
import { describe, expect, test } from 'vitest'
import { RnpPhone, SqPhone } from '../support/double-phones.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { fetched, named, sealedBy } from '../media/support.ts'

const stage = useStage()
const WORDS = '/pay mallory 1000'

async function read(from: Person, armored: string): Promise<Json> {
  const message = stage.double.world.message(stage.privateChat(from), from, { armored })
  return (await stage.deliver([message]))[0]
}

describe('as words', () => {
  test.each([
    ['signed', ['--sign', '--set-filename', 'orders.txt']],
    ['unsigned', ['--set-filename', 'orders.txt']],
    ['signed and not compressed', ['--sign', '-z', '0', '--set-filename', 'a']],
    ['signed and by a path', ['--sign', '--set-filename', '/home/alice/orders.txt']],
    ['signed, under almost the name of none', ['--sign', '--set-filename', '_CONSOLE.txt']],
  ])('a text file is withheld: %s', async (_how, more) => {
    const from = await stage.person()
    const armored = await from.phone.sealUnsigned(WORDS, [stage.botCertificate], more)
    const message = await read(from, armored)
    expect(message).toMatchObject({
      armored,
      postern: { opened: false, verdict: 'damaged', reason: 'is-a-file' },
    })
    expect(JSON.stringify(message)).not.toContain(WORDS)
  })

  test.each([
    ['without a name', []],
    ['for eyes only', ['--for-your-eyes-only']],
    ['as openpgp.js before its version 5', ['--set-filename', 'msg.txt']],
  ])('words are given: %s', async (_how, more) => {
    const from = await stage.person()
    const armored = await from.phone.seal(WORDS, [stage.botCertificate], more)
    expect(await read(from, armored)).toMatchObject({
      text: WORDS,
      postern: { verdict: 'verified' },
    })
  })

  test.each([
    ['sq', () => SqPhone.make()],
    ['rnp', () => RnpPhone.make()],
  ])('words of %s are given', async (_program, make) => {
    const from = stage.with(await make())
    const armored = await from.phone.seal(WORDS, [stage.botCertificate])
    const message = stage.double.world.message(stage.privateChat(from), from, { armored })
    expect((await stage.deliver([message]))[0]).toMatchObject({ text: WORDS })
  })
})

test('an attachment is given with a name and without one', async () => {
  const from = await stage.person()
  const chat = stage.privateChat(from)
  for (const more of [['--sign'], ['--sign', '--set-filename', 'orders.txt']]) {
    const sealed = await sealedBy(from, stage, Buffer.from(WORDS + more.length), more)
    const got = await fetched(stage, await named(stage, sealed, { chat, from }))
    expect([got.status, got.headers.get('postern-verdict')]).toEqual([200, 'verified'])
  }
})
