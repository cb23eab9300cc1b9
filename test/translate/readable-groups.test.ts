import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'

const stage = useStage()

const ARMOR = '-----BEGIN PGP MESSAGE-----\n\nSGVsbG8sIHdvcmxk\n-----END PGP MESSAGE-----\n'

test('armor in a readable group is delivered unchanged as text', async () => {
  const chat = stage.openGroup()
  const someone = stage.double.world.addUser(null)
  for (const armored of [ARMOR, `look at this:\n${ARMOR}\n\n\n\n`, '-----BEGIN PGP MESSAGE-----']) {
    const [read] = await stage.deliver([stage.double.world.message(chat, someone, { armored })])
    expect(read.text).toBe(armored)
    expect(read).not.toHaveProperty('armored')
    expect(read.postern.opened).toBe(false)
  }
})

test('the first sealed message of a group that has just become protected is opened', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  expect((await stage.send(chat, 'readable')).status).toBe(201)
  chat.historyVisible = false
  const armored = await person.phone.seal('just turned', [stage.botCertificate])
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
  expect(read).toMatchObject({ text: 'just turned', postern: { verdict: 'verified' } })
})

test('a message with text and armored in a protected chat is delivered with its sealed text', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal('sealed', [stage.botCertificate])
  const { world } = stage.double
  const [read] = await stage.deliver([world.message(chat, person, { armored, text: 'slipped in' })])
  expect(read.text).toBe('sealed')
  const broken = ARMOR.replace('SGVs', 'AAAA')
  const [closed] = await stage.deliver([
    world.message(chat, person, { armored: broken, text: 'slipped in' }),
  ])
  expect(closed).not.toHaveProperty('text')
  expect(closed.postern).toMatchObject({ verdict: 'damaged', withheldText: 'slipped in' })
})

test('a readable text quoted from a readable group is withheld in a protected chat', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const open = stage.openGroup()
  const { world } = stage.double
  const quoted = world.message(open, person, { text: 'slipped in by a quotation' })
  const armored = await person.phone.seal('an answer', [stage.botCertificate])
  const [read] = await stage.deliver([world.message(chat, person, { armored, replyTo: quoted })])
  expect(read.text).toBe('an answer')
  expect(read.replyTo).not.toHaveProperty('text')
  expect(read.replyTo.postern.verdict).toBe('plaintext-in-protected')
  const [outside] = await stage.deliver([world.message(open, person, { ...quoted })])
  expect(outside.text).toBe('slipped in by a quotation')
})

test('the Messages of an update beyond the first hundred are withheld, and none is lost', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const { world } = stage.double
  const armored = await person.phone.seal('too many', [stage.botCertificate])
  const quotations = Array.from({ length: 120 }, (_, n) =>
    world.message(chat, person, n % 2 ? { armored } : { text: 'slipped in' }),
  )
  const [update] = await stage.deliverUpdates([{ kind: 'new', payload: { quotations } }])
  const read: Json[] = update.payload.quotations
  expect(read.length).toBe(120)
  const beyond = read.slice(100)
  for (const message of beyond) expect(message).not.toHaveProperty('text')
  expect(new Set(beyond.map(({ postern }) => postern.verdict))).toEqual(
    new Set(['too-large', 'mode-unknown']),
  )
  expect(beyond.filter((message) => 'armored' in message).length).toBe(10)
})
