import { beforeAll, describe, expect, test } from 'vitest'
import { keyOf, type PersonPhone } from '../support/double-phones.ts'
import { newPhone, type Stage, useStage } from '../support/double-stage.ts'
import { no, type Json } from '../support/double-wire.ts'

/** DESIGN's table: whether the text reaches the bot under each setting of `open.verify`. */
const TABLE: Record<string, { flag: boolean; require: boolean; off: boolean }> = {
  verified: { flag: true, require: true, off: true },
  unsigned: { flag: true, require: false, off: true },
  'before-key': { flag: true, require: false, off: true },
  'unknown-signer': { flag: false, require: false, off: true },
  'signer-unavailable': { flag: false, require: false, off: true },
  'bad-signature': { flag: false, require: false, off: true },
  replayed: { flag: false, require: false, off: true },
  'plaintext-in-protected': { flag: false, require: false, off: true },
  'not-recipient': { flag: false, require: false, off: false },
  damaged: { flag: false, require: false, off: false },
  'too-large': { flag: false, require: false, off: false },
  'mode-unknown': { flag: false, require: false, off: false },
}

interface Case {
  name: string
  verdict: string
  opened: boolean
  text: string
  message: Json
}

/** One message for each way to each verdict, in the order of delivery. */
async function casesFor(stage: Stage, phone: PersonPhone, stranger: PersonPhone): Promise<Case[]> {
  const { world } = stage.double
  const to = [stage.botCertificate]
  const person = () => world.addUser(keyOf(phone))
  const known = world.addUser(keyOf(phone))
  const private_ = stage.privateChat(known)
  const cases: Case[] = []
  const add = (name: string, verdict: string, opened: boolean, text: string, message: Json) =>
    cases.push({ name, verdict, opened, text, message })

  const armored = await phone.seal('mine', to)
  const signed = world.message(private_, known, { armored })
  add('signed by its person', 'verified', true, 'mine', signed)
  add('the same again as another message', 'replayed', true, 'mine', { ...signed, id: 1 })
  const elsewhere = stage.privateChat(known)
  add('the same again elsewhere', 'replayed', true, 'mine', {
    ...signed,
    chat: { id: elsewhere.id, kind: 'private' },
  })

  const silent = world.addUser(null)
  const unsigned = { armored: await phone.sealUnsigned('whose', to) }
  const silentChat = stage.privateChat(silent)
  add('not signed', 'unsigned', true, 'whose', world.message(silentChat, silent, unsigned))
  const ratchet = { armored: await phone.sealUnsigned('no more signed', to) }
  add('not signed by one who did', 'bad-signature', true, 'no more signed', {
    ...world.message(private_, known, ratchet),
  })

  const early = { text: 'from before', date: Date.now() - 3_600_000 }
  add('text from before the key', 'before-key', false, 'from before', {
    ...world.message(stage.privateChat(silent), silent, early),
  })
  add('text with an old date after something sealed', 'plaintext-in-protected', false, 'old date', {
    ...world.message(silentChat, silent, { ...early, text: 'old date' }),
  })
  const late = { text: 'slipped in', date: Date.now() + 60_000 }
  add('text in a private chat', 'plaintext-in-protected', false, 'slipped in', {
    ...world.message(silentChat, silent, late),
  })
  const group = stage.group([])
  add('text in a protected group', 'plaintext-in-protected', false, 'in the group', {
    ...world.message(group, silent, { text: 'in the group' }),
  })

  const keyless = world.addUser(null)
  const keylessChat = stage.privateChat(keyless)
  add('signed by one who has no key', 'unknown-signer', true, 'who am I', {
    ...world.message(keylessChat, keyless, { armored: await phone.seal('who am I', to) }),
  })
  add('signed, from nobody', 'unknown-signer', true, 'nobody', {
    ...world.message(private_, null, { armored: await phone.seal('nobody', to) }),
  })
  add('not signed, from nobody', 'unknown-signer', true, 'nobody at all', {
    ...world.message(private_, null, { armored: await phone.sealUnsigned('nobody at all', to) }),
  })
  add('signed by somebody else', 'bad-signature', true, 'forged', {
    ...world.message(private_, known, { armored: await stranger.seal('forged', to) }),
  })

  const hidden = person()
  const hiddenChat = stage.privateChat(hidden)
  stage.double.script('GET', `/chats/${hiddenChat.id}/keys`, no(500, 'internal'))
  stage.double.script('GET', `/users/${hidden.id}/key`, no(500, 'internal'))
  add('signed by one whose key is not to be had', 'signer-unavailable', true, 'hidden', {
    ...world.message(hiddenChat, hidden, { armored: await phone.seal('hidden', to) }),
  })

  const others = { armored: await phone.seal('not for the bot', [stranger.certificate]) }
  add('sealed to others', 'not-recipient', false, '', world.message(private_, known, others))
  const broken = { armored: flipped(await phone.seal('broken', to)) }
  add('with a flipped bit', 'damaged', false, '', world.message(private_, known, broken))
  const bomb = { armored: await phone.seal('0'.repeat(300_000), to) }
  add('too much of it', 'too-large', false, '', world.message(private_, known, bomb))

  const lost = stage.group([known])
  stage.double.script('GET', `/chats/${lost.id}`, no(500, 'internal'))
  add('in a chat whose mode is not to be learned', 'mode-unknown', false, '', {
    ...world.message(lost, known, { armored: await phone.seal('lost', to) }),
  })
  add('text in such a chat', 'mode-unknown', false, 'lost, too', {
    ...world.message(lost, known, { text: 'lost, too' }),
  })
  return cases
}

/** Armor that is whole, around data that is not. */
function flipped(armored: string): string {
  const lines = armored.split('\n')
  const at = Math.floor(lines.length / 2)
  const line = lines[at] ?? ''
  lines[at] = (line.startsWith('A') ? 'B' : 'A') + line.slice(1)
  return lines.filter((one) => !/^=[A-Za-z0-9+/]{4}$/.test(one)).join('\n')
}

for (const policy of ['flag', 'require', 'off'] as const) {
  describe(`under open.verify: ${policy}`, () => {
    const stage = useStage({ env: { POSTERN_OPEN_VERIFY: policy, TESTS_PATIENCE: '0.1' } })
    let cases: Case[] = []
    let got: Json[] = []

    beforeAll(async () => {
      const phone = stage.use(await newPhone())
      const stranger = stage.use(await newPhone())
      cases = await casesFor(stage, phone, stranger)
      got = await stage.deliver(cases.map(({ message }) => message))
    })

    for (const verdict of Object.keys(TABLE)) {
      const delivered = TABLE[verdict]?.[policy] === true
      test(`a text with the verdict ${verdict} is ${delivered ? 'delivered' : 'withheld'} under open.verify ${policy}`, () => {
        const own = cases.map((one, index) => ({ ...one, got: got[index] }))
        const found = own.filter((one) => one.verdict === verdict)
        expect(found.length).toBeGreaterThan(0)
        for (const { name, message, text, opened, got: read } of found) {
          expect(read.postern, name).toMatchObject({ verdict, opened })
          expect(read.id).toBe(message.id)
          if (delivered) {
            expect([name, read.text]).toEqual([name, text])
            expect(read).not.toHaveProperty('armored')
          } else {
            expect(read).not.toHaveProperty('text')
            expect([name, read.armored]).toEqual([name, message.armored])
            expect([name, read.postern.withheldText]).toEqual([name, message.text])
          }
        }
      })
    }

    test('the messages of all verdicts are delivered in order', () => {
      expect(got.map(({ id }) => id)).toEqual(cases.map(({ message }) => message.id))
    })

    test('no log has the text of a judged message', () => {
      const logs = stage.sidecar.logs()
      for (const { text } of cases) expect(text !== '' && logs.includes(`"${text}"`)).toBe(false)
    })
  })
}
