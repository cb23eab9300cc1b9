import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { expectSealed, known, lines, postern, swap } from '../support/double-sends.ts'
import { canary, newPhone } from '../support/double-stage.ts'
import { until } from '../support/sidecar.ts'
import { expectWithheld, useTrustStage } from './trust-scene.ts'

const { stage, ask, policy, accept, block, verify, waits, signed, bare } = useTrustStage()

test('a changed certificate is sealed to under accept, and journalled', async () => {
  const { person, chat } = await known(stage)
  const before = await swap(stage, person)
  await expectSealed(stage, chat, [person])
  const log = await lines(stage, 'trust', 'log', '--json')
  expect(log.find(({ userId }) => userId === person.id)).toMatchObject({
    kind: 'key-changed',
    detail: { from: before.fingerprint, to: person.phone.fingerprint, standing: 'seen' },
  })
  expect(await postern(stage, 'trust', 'list', '--changed')).toContain(person.phone.fingerprint)
})

test('`trust list` shows the username of a person’s messages, also after a restart', async () => {
  const { person, chat } = await known(stage)
  const rowOf = async () => {
    const { people } = await ask((operations) => operations.trustList())
    return people.find(({ userId }) => userId === person.id)
  }
  await stage.deliver([stage.double.world.message(chat, person, { text: 'hello' })])
  await until(async () => (await rowOf())?.username != null, 'the handle is listed')
  await stage.restart()
  expect(await rowOf()).toMatchObject({ username: `person_${person.id}` })
  const listed = await postern(stage, 'trust', 'list')
  expect(listed).toMatch(new RegExp(`${person.id} +@person_${person.id} `))
})

test('a changed certificate waits under first-use until `trust accept`', async () => {
  const { person, chat } = await known(stage)
  await policy('first-use')
  await swap(stage, person)
  await waits(chat, person, 'key-changed')
  expectWithheld(await signed(chat, person, 'believe me'), 'unknown-signer', 'key-changed')
  await accept(person)
  await expectSealed(stage, chat, [person])
  expect(await signed(chat, person, 'now you may')).toMatchObject({
    text: 'now you may',
    postern: { verdict: 'verified', signer: person.phone.fingerprint },
  })
  await swap(stage, person)
  await waits(chat, person, 'key-changed')
})

test('a blocked person is neither sealed to nor delivered, signed or not, after a restart too', async () => {
  const { person, chat } = await known(stage)
  await block(person)
  for (let restarts = 0; restarts < 2; restarts++) {
    await waits(chat, person, 'blocked')
    const words = `let me in ${restarts}`
    expectWithheld(await signed(chat, person, words), 'unknown-signer', 'blocked')
    expectWithheld(await bare(chat, person, words), 'unknown-signer', 'blocked')
    await stage.restart()
    await stage.sidecar.whenReady()
  }
})

test('`trust accept` forgets that a person signs, and gives the person a shared certificate', async () => {
  const { person, chat } = await known(stage)
  await signed(chat, person, 'signed')
  expect((await bare(chat, person, 'unsigned')).postern.verdict).toBe('bad-signature')
  await accept(person)
  expect((await bare(chat, person, 'unsigned again')).postern.verdict).toBe('unsigned')

  const thief = stage.double.world.addUser(keyOf(stage.use(await newPhone())))
  const owner = stage.double.world.addUser(thief.key)
  const [theirs, group] = [stage.group([thief]), stage.group([owner])]
  expect((await stage.send(theirs, canary())).status).toBe(201)
  await accept(thief)
  await waits(group, owner, 'other-person')
  await accept(owner)
  expect((await stage.send(group, canary())).status).toBe(201)
  await waits(theirs, thief, 'other-person')
})

test.each<[string[], number, RegExp]>([
  [['accept', '424242'], 1, /was ever seen/],
  [['accept', 'ID', '--fingerprint', 'ab'.repeat(20)], 1, /another one/],
  [['verify', 'ID', 'abc'], 2, /40 hexadecimal/],
  [['block', 'alice'], 2, /whole number/],
  [['policy', 'paranoid'], 2, /is invalid/],
  [['log', '--since', 'yesterday'], 2, /not a date/],
])('the command `trust %j` is refused with a hint', async (args, code, expected) => {
  const friend = await stage.friend()
  await stage.send(stage.group([friend]), canary())
  const given = args.map((arg) => (arg === 'ID' ? String(friend.id) : arg))
  const ended = await stage.sidecar.postern('trust', ...given)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(expected)
  expect(ended.stderr).toMatch(/hint: /)
})

test('the journal has the changes of a key list, and a contradictory list', async () => {
  const [a, b, c] = [await stage.person(), await stage.person(), await stage.person()]
  const group = stage.group([a, b])
  await expectSealed(stage, group, [a, b])
  group.people = [c, b]
  await swap(stage, b)
  await expectSealed(stage, group, [b, c])
  group.people = [c, { id: c.id, key: b.key }]
  for (let times = 0; times < 2; times++) {
    expect((await stage.send(group, canary())).status).toBe(409)
  }
  const log = await lines(stage, 'trust', 'log', '--json')
  const [first, second, third, ...more] = log.filter(({ chatId }) => chatId === group.id)
  expect([first, second].map(({ kind }) => kind)).toEqual(Array(2).fill('recipients-changed'))
  expect(first.detail).toEqual({ count: 2, added: [c.id], removed: [a.id], changed: [b.id] })
  expect(third.kind).toBe('list-contradicts')
  expect(third.detail.why).toContain(`two keys for person ${c.id}`)
  expect(more).toEqual([])
})

test('`trust verify` remembers that a person signs, and `trust accept` forgets it', async () => {
  const { person, chat } = await known(stage)
  expect((await signed(chat, person, 'signed')).text).toBe('signed')
  await verify(person)
  expectWithheld(await bare(chat, person, 'a'), 'bad-signature', 'stopped-signing')
  await verify(person, 'ab'.repeat(20))
  expectWithheld(await bare(chat, person, 'b'), 'bad-signature', 'stopped-signing')
  await stage.restart()
  await stage.sidecar.whenReady()
  expectWithheld(await bare(chat, person, 'c'), 'bad-signature', 'stopped-signing')
  expect((await accept(person)).message).toMatch(/start over/)
  expect((await bare(chat, person, 'd')).text).toBe('d')
})

test('words of a verified person must be signed, and files once the person has signed one', async () => {
  const { person, chat } = await known(stage)
  await verify(person)
  for (const one of ['accept', 'first-use', 'pinned'] as const) {
    await policy(one)
    expectWithheld(await bare(chat, person, `under ${one}`), 'bad-signature', 'must-sign')
  }
  const fetched = async (armored: string) => {
    const item = stage.double.world.store(Buffer.from(armored))
    const message = stage.double.world.message(chat, person, { text: null, media: [item] })
    const [one] = await stage.deliver([message])
    const response = await fetch(`${stage.sidecar.url}${one.media[0].url}`)
    return [response.status, response.headers.get('postern-verdict')]
  }
  const to = [stage.botCertificate]
  expect(await fetched(await person.phone.sealUnsigned('file a', to))).toEqual([200, 'unsigned'])
  expect(await fetched(await person.phone.seal('file b', to))).toEqual([200, 'verified'])
  expect((await fetched(await person.phone.sealUnsigned('file c', to)))[0]).toBe(422)
  const { people } = await ask((operations) => operations.trustList())
  const row = people.find(({ userId }) => userId === person.id)
  expect(row).toMatchObject({ signs: true, signsFiles: true })
})
