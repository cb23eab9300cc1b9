import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no, type Json } from '../support/double-wire.ts'

const stage = useStage()

/** Somebody’s sealed words, as an update that the service has not numbered yet. */
async function words(text: string): Promise<{ update: Json; quoting: () => Promise<Json> }> {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const { world } = stage.double
  const seal = (what: string) => person.phone.seal(what, [stage.botCertificate])
  const message = world.message(chat, person, { armored: await seal(text) })
  return {
    update: { kind: 'message', message },
    quoting: async () =>
      world.message(chat, person, { armored: await seal('look'), replyTo: message }),
  }
}

async function poll(query = ''): Promise<Json[]> {
  const { status, json } = await stage.sidecar.call('GET', `/updates?${query}`)
  expect(status).toBe(200)
  return json.result
}

/** The only update that a poll gives: its verdict, reason and text. */
async function only(query = ''): Promise<unknown[]> {
  const updates = await poll(query)
  expect(updates.length).toBe(1)
  const [{ message }] = updates
  return [message.postern.verdict, message.postern.reason, message.text]
}

test('an update that the bot has confirmed is `replayed` when delivered again, also after a restart', async () => {
  const { update, quoting } = await words('/pay 10')
  const [{ updateId }] = await stage.deliverUpdates([update])
  expect(await only()).toEqual(['verified', undefined, '/pay 10'])
  expect(await poll(`offset=${updateId + 1}`)).toEqual([])
  stage.double.world.push({ updateId, ...update })
  const refused = ['replayed', 'confirmed-before', undefined]
  expect(await only()).toEqual(refused)
  expect(await only(`offset=${updateId}`)).toEqual(refused)
  await stage.restart()
  expect(await only()).toEqual(refused)
  const [quoted] = await stage.deliver([await quoting()])
  expect(quoted).toMatchObject({ text: 'look', replyTo: { text: '/pay 10' } })
})

test('an update counts as confirmed even when the confirming poll fails at the service', async () => {
  const { update } = await words('/pay 20')
  const [{ updateId }] = await stage.deliverUpdates([update])
  {
    using _failing = stage.double.script('GET', '/updates', no(500, 'internal'))
    const { status } = await stage.sidecar.call('GET', `/updates?offset=${updateId + 1}`)
    expect(status).toBe(500)
    await stage.restart()
  }
  expect(await only(`offset=${updateId}`)).toEqual(['replayed', 'confirmed-before', undefined])
})

test('a new message under an old update id is opened until confirmed, and the log names the lower id', async () => {
  const { update } = await words('counted anew')
  const [{ updateId: highest }] = await stage.deliverUpdates([(await words('before')).update])
  await poll(`offset=${highest + 1000}`)
  const updateId = 7
  stage.double.world.push({ updateId, ...update })
  const opened = ['verified', undefined, 'counted anew']
  expect(await only()).toEqual(opened)
  expect(stage.sidecar.logs()).toContain('update ids went back')
  await stage.restart()
  expect(await only()).toEqual(opened)
  await poll(`offset=${updateId + 1}`)
  stage.double.world.push({ updateId, ...update })
  expect(await only()).toEqual(['replayed', 'confirmed-before', undefined])
  await poll(`offset=${updateId + 1}`)
})

test('an offset above all update ids does not close later updates', async () => {
  for (const offset of [Number.MAX_SAFE_INTEGER, '99999999999999999999', 8]) {
    await poll(`offset=${offset}`)
    const { update } = await words(`after ${offset}`)
    const updateId = stage.double.world.push(update)
    for (let time = 0; time < 2; time++) {
      expect(await only()).toEqual(['verified', undefined, `after ${offset}`])
    }
    await poll(`offset=${updateId + 1}`)
  }
})
