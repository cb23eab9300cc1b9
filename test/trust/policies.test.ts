import type { TrustPolicy } from '../../src/kernel/index.ts'
import { beforeEach, expect, test } from 'vitest'
import { GpgPhone, keyOf } from '../support/double-phones.ts'
import { connectControl } from '../../src/control/client.ts'
import type { Operations } from '../../src/control/operations.ts'
import { until } from '../support/sidecar.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const postern = async (...args: string[]): Promise<string> => {
  const { code, stderr, stdout } = await stage.sidecar.postern(...args)
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

/** Asks the running sidecar as the commands do, without a process for each. */
async function ask<R>(run: (operations: Operations) => Promise<R>): Promise<R> {
  await using control = await connectControl(stage.sidecar.dataDir)
  if (control === null) throw new Error('no sidecar runs')
  return await run(control)
}
const policy = (wanted: TrustPolicy | null, chatId: number | null = null) =>
  ask((operations) => operations.trustPolicy({ chatId, policy: wanted }))
const accept = ({ id: userId }: { id: number }) =>
  ask((operations) => operations.trustAccept({ userId }))
const block = ({ id: userId }: { id: number }) =>
  ask((operations) => operations.trustBlock({ userId }))

beforeEach(async () => {
  await policy(null)
})

/** The service lists another certificate for a person: a new phone, or a lie. */
async function swap(person: Person): Promise<void> {
  const phone = stage.use(await GpgPhone.make())
  Object.assign(person, { phone, key: keyOf(phone) })
}

async function reaches(chat: DoubleChat, person: Person, skipped: unknown[] = []): Promise<void> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect(sent.status, sent.text).toBe(201)
  expect(sent.json.result.postern.skipped).toEqual(skipped)
  const [body] = stage.bodies(since)
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
}

async function waits(chat: DoubleChat, person: Person, reason: string): Promise<void> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_trust_required'])
  expect(sent.json.error.message).toContain(`${person.id} (${reason})`)
  expect(stage.bodies(since)).toEqual([])
  stage.expectNowhere(words)
}

async function known(): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  await reaches(chat, person)
  return { person, chat }
}

test('under accept a changed certificate is sealed to, and the change is written down', async () => {
  const { person, chat } = await known()
  const before = person.phone.fingerprint
  await swap(person)
  await reaches(chat, person)
  const log = (await postern('trust', 'log', '--json')).trim().split('\n')
  const entry = log.map((line) => JSON.parse(line)).find(({ userId }) => userId === person.id)
  expect(entry).toMatchObject({
    kind: 'key-changed',
    detail: { from: before, to: person.phone.fingerprint, standing: 'seen' },
  })
  expect(await postern('trust', 'list', '--changed')).toContain(person.phone.fingerprint)
})

test('people are listed with the handle that their messages came with, also after a restart', async () => {
  const { person, chat } = await known()
  const rowOf = async () => {
    const { people } = await ask((operations) => operations.trustList())
    return people.find(({ userId }) => userId === person.id)
  }
  await stage.deliver([stage.double.world.message(chat, person, { text: 'hello' })])
  await until(async () => (await rowOf())?.username != null, 'the handle is listed')
  await stage.restart()
  expect(await rowOf()).toMatchObject({ username: `person_${person.id}` })
  expect(await postern('trust', 'list')).toMatch(new RegExp(`${person.id} +@person_${person.id} `))
})

test('under first-use a changed certificate waits for the operator, who is heard at once', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  await swap(person)
  await waits(chat, person, 'key-changed')
  await accept(person)
  await reaches(chat, person)
  await swap(person)
  await waits(chat, person, 'key-changed')
})

test('under first-use the others in a group get the message, and who waits is named', async () => {
  const { person } = await known()
  const friend = await stage.friend()
  const group = stage.group([friend, person])
  await policy('first-use')
  await swap(person)
  await reaches(group, friend, [{ userId: person.id, reason: 'key-changed' }])
})

test('under pinned nobody is sealed to before the operator has spoken', async () => {
  const { person, chat } = await known()
  await policy('pinned')
  await waits(chat, person, 'not-accepted')
  await postern('trust', 'accept', String(person.id), '--fingerprint', person.phone.fingerprint)
  await reaches(chat, person)
})

test('a chat may have a policy of its own', async () => {
  const { person, chat } = await known()
  const other = stage.group([person])
  await policy('pinned', chat.id)
  await waits(chat, person, 'not-accepted')
  await reaches(other, person)
  await policy(null, chat.id)
  await reaches(chat, person)
})

test('a verified person whose certificate changes is not sealed to under any policy', async () => {
  const { person, chat } = await known()
  const spaced = person.phone.fingerprint.toUpperCase().replaceAll(/(.{4})/g, '$1 ')
  await postern('trust', 'verify', String(person.id), spaced.trim())
  await reaches(chat, person)
  const first = person.key
  await swap(person)
  await waits(chat, person, 'key-changed')
  person.key = first
  const verified = await stage.send(chat, canary())
  expect(verified.status, verified.text).toBe(201)
})

test('a blocked person is neither sealed to nor believed, signed or not', async () => {
  const { person, chat } = await known()
  await block(person)
  await waits(chat, person, 'blocked')
  const sealed = await person.phone.seal('let me in', [stage.botCertificate])
  const bare = await person.phone.sealUnsigned('let me in', [stage.botCertificate])
  const got = await stage.deliver(
    [sealed, bare].map((armored) => stage.double.world.message(chat, person, { armored })),
  )
  for (const message of got) {
    expect(message.text).toBeUndefined()
    expect(message.postern).toMatchObject({ verdict: 'unknown-signer', reason: 'blocked' })
  }
})

test('words by a certificate that waits for the operator are withheld, and given once accepted', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  await swap(person)
  const write = async (words: string) => {
    const armored = await person.phone.seal(words, [stage.botCertificate])
    return (await stage.deliver([stage.double.world.message(chat, person, { armored })]))[0]
  }
  const withheld = await write('believe me')
  expect(withheld.text).toBeUndefined()
  expect(withheld.postern).toMatchObject({ verdict: 'unknown-signer', reason: 'key-changed' })
  await accept(person)
  expect(await write('now you may')).toMatchObject({
    text: 'now you may',
    postern: { verdict: 'verified', signer: person.phone.fingerprint },
  })
})

test('accepting lets a person begin anew: they need not sign, and a key that was said to be another’s is theirs', async () => {
  const { person, chat } = await known()
  const armored = await person.phone.seal('signed', [stage.botCertificate])
  await stage.deliver([stage.double.world.message(chat, person, { armored })])
  const write = async (words: string) => {
    const bare = await person.phone.sealUnsigned(words, [stage.botCertificate])
    return (await stage.deliver([stage.double.world.message(chat, person, { armored: bare })]))[0]
  }
  expect((await write('unsigned')).postern.verdict).toBe('bad-signature')
  await accept(person)
  expect((await write('unsigned again')).postern.verdict).toBe('unsigned')

  const thief = stage.double.world.addUser(keyOf(stage.use(await GpgPhone.make())))
  const theirs = stage.group([thief])
  expect((await stage.send(theirs, canary())).status).toBe(201)
  await accept(thief)
  const owner = stage.double.world.addUser(thief.key)
  const group = stage.group([owner])
  await waits(group, Object.assign(owner, { phone: person.phone }), 'other-person')
  await accept(owner)
  expect((await stage.send(group, canary())).status).toBe(201)
  await waits(theirs, Object.assign(thief, { phone: person.phone }), 'other-person')
})

test('what the operator says survives a restart', async () => {
  const { person, chat } = await known()
  await block(person)
  await stage.restart()
  await stage.sidecar.whenReady()
  await waits(chat, person, 'blocked')
})

test('the operator is told what cannot be: a stranger, another fingerprint, no fingerprint, no number', async () => {
  const { person } = await known()
  const id = String(person.id)
  const cases: [string[], number, RegExp][] = [
    [['accept', '424242'], 1, /was ever seen/],
    [['accept', id, '--fingerprint', 'ab'.repeat(20)], 1, /another one/],
    [['verify', id, 'abc'], 2, /40 hexadecimal/],
    [['block', 'alice'], 2, /whole number/],
    [['policy', 'paranoid'], 2, /no such policy/],
    [['log', '--since', 'yesterday'], 2, /not a date/],
  ]
  for (const [args, code, expected] of cases) {
    const ended = await stage.sidecar.postern('trust', ...args)
    expect([ended.code, ended.stdout], args.join(' ')).toEqual([code, ''])
    expect(ended.stderr).toMatch(expected)
    expect(ended.stderr).toMatch(/hint: /)
  }
  expect(await postern('trust', 'list')).toMatch(new RegExp(`${id} .*seen`))
})

test('who comes onto a key list, leaves it or changes is written down, and so is a list that contradicts itself', async () => {
  const [a, b, c] = [await stage.person(), await stage.person(), await stage.person()]
  const people = [a, b]
  const group = stage.group(people)
  expect((await stage.send(group, canary())).status).toBe(201)
  people.splice(0, 1, c)
  group.people = people
  await swap(b)
  expect((await stage.send(group, canary())).status).toBe(201)
  group.people = [c, { id: c.id, key: b.key }]
  expect((await stage.send(group, canary())).status).toBe(409)
  expect((await stage.send(group, canary())).status).toBe(409)
  const log = (await postern('trust', 'log', '--json')).trim().split('\n')
  const entries = log.map((line) => JSON.parse(line)).filter(({ chatId }) => chatId === group.id)
  expect(entries.map(({ kind }) => kind)).toEqual([
    'recipients-changed',
    'recipients-changed',
    'list-contradicts',
  ])
  expect(entries[0].detail).toEqual({ count: 2, added: [c.id], removed: [a.id], changed: [b.id] })
  expect(entries[2].detail.why).toContain(`two keys for person ${c.id}`)
})
