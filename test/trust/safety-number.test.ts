/** The operator compares the number that a person's app shows, while the service may lie. */
import { expect, test } from 'vitest'
import { numberOf } from '../../src/sandbox/phone/number.ts'
import { expectSealed, known, lines, swap } from '../support/double-sends.ts'
import { no, type Json } from '../support/double-wire.ts'
import { BOT_ID } from '../support/double-world.ts'
import type { Person } from '../support/double-stage.ts'
import { rotate } from '../rotation/support.ts'
import { useTrustStage } from './trust-scene.ts'

const { stage, ask, policy, accept, block, waits } = useTrustStage()

const botFingerprint = (): string => (stage.double.world.published?.fingerprint ?? '').toLowerCase()

/** What the person's own app shows: of their own certificate, and of the bot's as it has it. */
const appOf = ({ id, phone }: Person, ofBot = botFingerprint()) =>
  numberOf([id, phone.fingerprint], [BOT_ID, ofBot])

const shown = ({ id }: { id: number }, isListed = false) =>
  ask((operations) => operations.trustNumber({ person: String(id), isListed }))

const compare = ({ id }: { id: number }, given: string, isListed = false) =>
  ask((operations) => operations.trustCompare({ person: String(id), isListed, given }))

const standing = async ({ id }: Person): Promise<[string, string | null]> => {
  const { people } = await ask((operations) => operations.trustList())
  const row = people.find(({ userId }) => userId === id)!
  return [row.standing, row.fingerprint]
}

/** What the journal has of a person, without times. */
async function journal({ id }: Person): Promise<Json[]> {
  const log = await lines(stage, 'trust', 'log', '--json')
  return log
    .filter(({ userId, kind }) => userId === id && kind !== 'key-changed')
    .map(({ kind, detail, at }) => {
      expect(Date.parse(at)).toBeGreaterThan(0)
      return [kind, detail]
    })
}

test.each(['digits', 'text'] as const)(
  'an equal safety number verifies the person by its certificate, given as %s',
  async (form) => {
    const { person, chat } = await known(stage)
    const app = await appOf(person)
    expect(await shown(person)).toMatchObject({ ...app, standing: 'seen', botId: BOT_ID })
    expect(await compare(person, app[form])).toMatchObject({
      fingerprint: person.phone.fingerprint,
      botFingerprint: botFingerprint(),
      message: expect.stringContaining('the numbers are equal'),
    })
    expect(await standing(person)).toEqual(['verified', person.phone.fingerprint])
    const detail = { fingerprint: person.phone.fingerprint, comparedWith: botFingerprint() }
    expect(await journal(person)).toEqual([['verified', detail]])
    await expectSealed(stage, chat, [person])
    await swap(stage, person)
    await waits(chat, person, 'key-changed')
  },
)

test('an equal safety number does not verify a blocked person', async () => {
  const { person, chat } = await known(stage)
  await block(person)
  await expect(compare(person, (await appOf(person)).digits)).rejects.toMatchObject({
    code: 'refused',
    hint: expect.stringContaining('trust accept'),
  })
  expect((await standing(person))[0]).toBe('blocked')
  await waits(chat, person, 'blocked')
})

test('a different safety number is refused and journalled, and changes nothing', async () => {
  const { person, chat } = await known(stage)
  const { digits } = await appOf(person, 'f'.repeat(40))
  await expect(compare(person, digits)).rejects.toMatchObject({
    code: 'number-differs',
    message: expect.stringMatching(/bot’s certificate is another.*nothing was changed/),
    hint: expect.stringContaining(`trust block ${person.id}`),
  })
  expect(await standing(person)).toEqual(['seen', person.phone.fingerprint])
  const detail = { fingerprint: person.phone.fingerprint, comparedWith: botFingerprint() }
  expect(await journal(person)).toEqual([['number-differs', detail]])
  await expectSealed(stage, chat, [person])
})

test('the safety number of a forgotten person is of the listed certificate, if that is the same', async () => {
  await policy('first-use')
  const { person } = await known(stage)
  const forget = () => ask((operations) => operations.personForget({ userId: person.id }))
  await forget()
  expect(await shown(person)).toMatchObject(await appOf(person))
  await forget()
  await swap(stage, person)
  await expect(shown(person)).rejects.toMatchObject({
    code: 'refused',
    hint: expect.stringContaining('--listed'),
  })
  expect(await shown(person, true)).toMatchObject(await appOf(person))
})

/** The service shows a person with this handle. */
async function named(username: string): Promise<Person> {
  const { person, chat } = await known(stage)
  const { from, ...message } = stage.double.world.message(chat, person, { text: 'hello' })
  await stage.deliver([{ ...message, from: { ...from, username } }])
  return person
}
const byHandle = (person: string) =>
  ask((operations) => operations.trustNumber({ person, isListed: false }))

test('a username gives the number of the person last shown with it, in either case', async () => {
  const person = await named('Dora_1')
  await expect.poll(() => byHandle('@dora_1').catch(() => null)).toMatchObject(await appOf(person))
  expect(await byHandle('DORA_1')).toMatchObject({ userId: person.id })
})

test('the username of no person, or of several, is refused', async () => {
  await named('twice_1')
  await expect.poll(() => byHandle('@twice_1').catch(() => null)).not.toBe(null)
  await named('Twice_1')
  const refused = (person: string) => byHandle(person).catch(({ code, message }) => [code, message])
  await expect
    .poll(() => refused('@twice_1'))
    .toEqual(['usage', expect.stringContaining('several people')])
  for (const person of ['@nobody_1', '', '@', '1e3', '0x10', ' 7']) {
    expect(await refused(person)).toEqual(['usage', expect.stringContaining('nobody')])
  }
})

test('a certificate of the service’s own has another safety number than the person’s app', async () => {
  for (const one of ['accept', 'first-use'] as const) {
    await policy(one)
    const person = await stage.person()
    const app = await appOf(person)
    const own = await swap(stage, person)
    // seen first as the service lies
    await expect(compare(person, app.digits)).rejects.toMatchObject({ code: 'number-differs' })
    expect((await standing(person))[0]).toBe('seen')
    expect(own.fingerprint).not.toBe(person.phone.fingerprint)
  }
})

test('a certificate changed between `trust show` and `trust compare` is not verified', async () => {
  const { person, chat } = await known(stage)
  const { digits } = await shown(person)
  const before = await swap(stage, person)
  await expectSealed(stage, chat, [person])
  await expect(compare(person, digits)).rejects.toMatchObject({ code: 'number-differs' })
  expect(await standing(person)).toEqual(['seen', before.fingerprint])
})

test('a person listed with the bot’s own certificate has no safety number', async () => {
  const person = await stage.person()
  Object.assign(person, { key: stage.double.world.published })
  await expect(shown(person)).rejects.toMatchObject({ code: 'refused' })
  await expect(compare({ id: BOT_ID }, '0'.repeat(60))).rejects.toMatchObject({ code: 'refused' })
})

test('a person whose listing was withdrawn has the safety number of the former certificate', async () => {
  await expect(shown({ id: 4_242_424 })).rejects.toMatchObject({
    message: expect.stringContaining('no certificate of person 4242424'),
  })
  const { person } = await known(stage)
  const app = await appOf(person)
  Object.assign(person, { key: null })
  expect(await shown(person)).toMatchObject({ ...app, listed: null })
  await expect(shown(person, true)).rejects.toMatchObject({ code: 'refused' })
})

test('the safety number of a waiting certificate is shown with `--listed` alone, and verifies it', async () => {
  const { person, chat } = await known(stage)
  await policy('first-use')
  const former = await appOf(person)
  const before = await swap(stage, person)
  const app = await appOf(person)
  const { fingerprint: listed } = person.phone
  expect(await shown(person)).toMatchObject({ ...former, fingerprint: before.fingerprint, listed })
  expect(await shown(person, true)).toMatchObject({ ...app, fingerprint: listed })
  await expect(compare(person, app.digits)).rejects.toMatchObject({
    code: 'number-differs',
    message: expect.stringContaining('lists now, and another is believed'),
    hint: expect.stringContaining(`trust compare ${person.id} --listed`),
  })
  await waits(chat, person, 'key-changed')
  await compare(person, app.digits, true)
  expect(await standing(person)).toEqual(['verified', listed])
  await expectSealed(stage, chat, [person])
})

test('a waiting certificate stays unused when the number of the former one is equal', async () => {
  const { person, chat } = await known(stage)
  await policy('first-use')
  const { digits } = await appOf(person)
  const before = await swap(stage, person)
  await compare(person, digits)
  expect(await standing(person)).toEqual(['verified', before.fingerprint])
  await waits(chat, person, 'key-changed')
  await accept(person)
})

test('a rotated bot key changes the safety number, and a compared person stays verified', async () => {
  const { person, chat } = await known(stage)
  const former = await appOf(person)
  await compare(person, former.digits)
  await rotate(stage)
  const app = await appOf(person)
  expect(app.digits).not.toBe(former.digits)
  expect(await shown(person)).toMatchObject({ ...app, standing: 'verified' })
  await expect(compare(person, former.digits)).rejects.toMatchObject({
    code: 'number-differs',
    message: expect.stringContaining('bot’s certificate'),
  })
  expect(await standing(person)).toEqual(['verified', person.phone.fingerprint])
  await expectSealed(stage, chat, [person])
})

test('a bot without a published key has no safety number', async () => {
  await using other = await stage.another((double) => {
    double.script('PUT', '/key', no(500, 'internal'), 1000)
  })
  const person = await other.person()
  const shownThere = other.sidecar.postern('trust', 'show', String(person.id))
  expect(await shownThere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no published key'),
  })
})
