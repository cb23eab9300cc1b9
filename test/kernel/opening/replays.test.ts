import { expect, test } from 'vitest'
import { PeerPhone } from '../../support/double-phones.ts'
import { useStage } from '../../support/double-stage.ts'
import type { Json } from '../../support/double-wire.ts'
import type { DoubleChat, ListedPerson } from '../../support/double-world.ts'

const stage = useStage()

const message = (chat: DoubleChat, from: ListedPerson, armored: string): Json =>
  stage.double.world.message(chat, from, { armored })

async function verdictOf(one: Json): Promise<[verdict: string, text: string | undefined]> {
  const [read] = await stage.deliver([one])
  return [read.postern.verdict, read.text]
}

/** The verdict and text of the update that has this id, asked for again. */
async function again(updateId: number): Promise<[string, string | undefined]> {
  const [{ message: read }] = await stage.askAgain(updateId)
  return [read.postern.verdict, read.text]
}

/** Delivers one Message; also gives the id of its update. */
async function delivered(one: Json): Promise<{ updateId: number; verdict: string; text?: string }> {
  const [{ updateId, message: read }] = await stage.deliverUpdates([
    { kind: 'message', message: one },
  ])
  return { updateId, verdict: read.postern.verdict, text: read.text }
}

test('an update that is requested again is delivered again, also after a restart', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal('once', [stage.botCertificate])
  const first = await delivered(message(chat, person, armored))
  expect(first).toMatchObject({ verdict: 'verified', text: 'once' })
  for (let time = 0; time < 2; time++) {
    expect(await again(first.updateId)).toEqual(['verified', 'once'])
  }
  await stage.restart()
  expect(await again(first.updateId)).toEqual(['verified', 'once'])
})

test.each(['signed', 'unsigned'])(
  'a %s message is delivered once, and its sealed data in any other update is replayed',
  async (kind) => {
    const [person, other] = [await stage.person(), stage.double.world.addUser(null)]
    const chat = stage.privateChat(person)
    const { phone } = person
    const to = [stage.botCertificate]
    const armored = await (kind === 'signed'
      ? phone.seal('/pay 10', to)
      : phone.sealUnsigned('/pay 10', to))
    const one = message(chat, person, armored)
    expect((await delivered(one)).text).toBe('/pay 10')
    const elsewhere = stage.privateChat(person)
    const copies = (): Json[] => [
      one,
      { ...one, date: one.date + 1000 },
      message(chat, person, armored),
      message(elsewhere, person, armored),
      message(stage.privateChat(other), other, armored),
      message(chat, person, armored.replace(/^=.*$/m, '').replaceAll('\n', '\r\n')),
    ]
    for (const copy of copies()) expect(await verdictOf(copy)).toEqual(['replayed', undefined])
    await stage.restart()
    for (const copy of copies()) expect(await verdictOf(copy)).toEqual(['replayed', undefined])
  },
)

test('signed words sealed anew into another chat, or for another sender, are replayed', async () => {
  const thief = await stage.person()
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const signed = await person.phone.sign('sign once')
  const first = await person.phone.sealPackets(signed, [stage.botCertificate])
  expect(await verdictOf(message(chat, person, first))).toEqual(['verified', 'sign once'])

  const anew = () => thief.phone.sealPackets(signed, [stage.botCertificate])
  const elsewhere = stage.privateChat(person)
  expect(await verdictOf(message(elsewhere, person, await anew()))).toEqual(['replayed', undefined])
  const theirs = stage.privateChat(thief)
  expect(await verdictOf(message(theirs, thief, await anew()))).toEqual(['replayed', undefined])
})

test('a message intended for others is not opened when one of them seals it to the bot', async () => {
  const person = stage.with(await PeerPhone.make('sq'))
  const reader = await stage.friend()
  const chat = stage.group([person, reader])
  const forReader = await person.phone.seal('for the reader alone', [reader.phone.certificate])
  const packets = await reader.phone.unwrap(forReader)
  const anew = await reader.phone.sealPackets(packets, [stage.botCertificate])
  const [read] = await stage.deliver([message(chat, person, anew)])
  expect(read.postern).toMatchObject({ opened: false, verdict: 'not-recipient' })
  expect(read).not.toHaveProperty('text')
  expect(read.armored).toBe(anew)

  const both = [reader.phone.certificate, stage.botCertificate]
  const forBoth = await person.phone.seal('for both', both)
  expect(await verdictOf(message(chat, person, forBoth))).toEqual(['verified', 'for both'])
})

test('the bot’s own words open as a quotation, and never as a message', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const since = stage.double.mark()
  await stage.send(chat, 'my own words')
  const [{ armored }] = stage.bodies(since)
  const own = message(chat, { id: 900, key: null }, armored)
  for (let time = 0; time < 2; time++) {
    const [read] = await stage.deliver([own])
    expect(read.postern).toMatchObject({ verdict: 'replayed', reason: 'own-words' })
    expect(read).not.toHaveProperty('text')
  }
  const words = await person.phone.seal('what?', [stage.botCertificate])
  const [quoting] = await stage.deliver([{ ...message(chat, person, words), replyTo: own }])
  expect(quoting.replyTo).toMatchObject({ text: 'my own words' })
})

test('a quotation of the bot’s own words from another chat is replayed', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const since = stage.double.mark()
  await stage.send(chat, 'a secret of this chat')
  const [{ armored }] = stage.bodies(since)
  const other = await stage.person()
  const elsewhere = stage.privateChat(other)
  const moved = message(elsewhere, { id: 900, key: null }, armored)
  const words = await other.phone.seal('what did you say?', [stage.botCertificate])
  const [read] = await stage.deliver([
    stage.double.world.message(elsewhere, other, { armored: words, replyTo: moved }),
  ])
  expect(read.replyTo.postern.verdict).toBe('replayed')
  expect(read.replyTo).not.toHaveProperty('text')
})
