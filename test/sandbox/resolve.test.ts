import { expect, test } from 'vitest'
import { ask, outcome, still } from './support.ts'

test('people, bots, groups and channels share one pool of handles', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const members = [alice.id]
  const group = await sandbox.control.addRoom({ kind: 'group', username: 'Garden', members })
  const channel = await sandbox.control.addRoom({ kind: 'channel', username: 'news', members })
  const resolve = async (name: string) => (await ask(sandbox, `GET /resolve/${name}`)).result
  expect(await resolve('ALICE')).toMatchObject({
    id: alice.id,
    kind: 'person',
    username: 'alice',
    user: { id: alice.id, firstName: 'Alice' },
  })
  expect(await resolve('echo_bot')).toMatchObject({ id: bot.id, user: { isBot: true } })
  expect(await resolve('garden')).toMatchObject({
    id: group.id,
    kind: 'group',
    username: 'Garden',
    chat: { id: group.id },
  })
  expect(await resolve('news')).toMatchObject({ id: channel.id, kind: 'channel' })
  await expect(sandbox.control.addPerson({ username: 'garden' })).rejects.toThrow('taken')
})

test('an old handle resolves to the one its holder goes by now', async () => {
  await using sandbox = await still()
  const { alice } = sandbox.home
  await sandbox.control.renamePerson({ userId: alice.id, username: 'alicia' })
  const response = await ask(sandbox, 'GET /resolve/alice')
  expect(response.result).toMatchObject({ id: alice.id, username: 'alicia' })
})

test('nobody, closed accounts and the server’s own account are not found', async () => {
  await using sandbox = await still()
  await sandbox.control.closeAccount({ userId: sandbox.home.bob.id })
  for (const name of ['nobody', 'bob', 'service']) {
    expect(await outcome(sandbox, `GET /resolve/${name}`)).toBe('username_not_found')
  }
})

test('what has no handle’s shape is a bad request', async () => {
  await using sandbox = await still()
  for (const name of ['ab', 'x'.repeat(33), '@alice', 'al-ice', '%C3%A4bc', 'x'.repeat(500)]) {
    expect(await outcome(sandbox, `GET /resolve/${name}`), name).toBe('bad_request')
  }
})

test('60 lookups a minute fit, and a miss counts as five', async () => {
  await using sandbox = await still()
  for (let n = 0; n < 10; n++) await ask(sandbox, 'GET /resolve/alice')
  for (let n = 0; n < 10; n++) await ask(sandbox, 'GET /resolve/nobody')
  const refused = await ask(sandbox, 'GET /resolve/alice')
  expect(refused.error).toMatchObject({ code: 'flood_wait', status: 429, retryAfter: 60 })
  expect(refused.headers.get('retry-after')).toBe('60')
  await sandbox.advance(60_000)
  expect(await outcome(sandbox, 'GET /resolve/alice')).toBe(200)
})
