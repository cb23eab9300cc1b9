import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { PAIR, still } from './seeded.ts'
import { ask } from './support.ts'
import { temporaryFolder } from './world-file.ts'

const namesIn = async ({ control }: Sandbox) => (await control.chats()).map(({ name }) => name)

test('chats have the names of the seed, and the default world’s have names too', async () => {
  await using seeded = await still({
    ...PAIR,
    chats: {
      ...PAIR.chats,
      office: { kind: 'group', title: 'Our office', members: { alice: 'owner' } },
    },
  })
  expect(await namesIn(seeded)).toEqual(['dm', 'office'])
  await using sandbox = await createSandbox()
  expect(await namesIn(sandbox)).toEqual(['dm', 'square', 'backroom'])
})

test('two chats never have one name, and a refused one is not made', async () => {
  await using sandbox = await createSandbox()
  const { control, home } = sandbox
  const members = [home.alice.id]
  await expect(control.addRoom({ kind: 'group', name: 'dm', members })).rejects.toThrow(
    'a chat is called dm already',
  )
  await expect(
    control.addPrivateChat({ userId: home.bob.id, botId: home.bot.id, name: 'square' }),
  ).rejects.toThrow('a chat is called square already')
  await control.addRoom({ kind: 'group', members })
  await control.addRoom({ kind: 'group', members })
  expect(await namesIn(sandbox)).toEqual(['dm', 'square', 'backroom', null, null])
})

test('a private chat that is there already keeps its name', async () => {
  await using sandbox = await createSandbox()
  const { control, home } = sandbox
  const pair = { userId: home.alice.id, botId: home.bot.id }
  expect((await control.addPrivateChat({ ...pair, name: 'other' })).id).toBe(home.privateChat)
  expect((await namesIn(sandbox))[0]).toBe('dm')
})

test('names outlast the process', async () => {
  const data = `${temporaryFolder()}/a.world`
  await (await createSandbox({ data }))[Symbol.asyncDispose]()
  await using again = await createSandbox({ data })
  expect(again.isNew).toBe(false)
  expect(await namesIn(again)).toEqual(['dm', 'square', 'backroom'])
})

test('bots see no name of a chat', async () => {
  await using sandbox = await createSandbox()
  const { result } = await ask(sandbox, `GET /chats/${sandbox.home.encryptedGroup}`)
  const text = JSON.stringify(result)
  expect(text).toContain('Back room')
  expect(text).not.toContain('backroom')
})

test('people whose phone is here are told from those who have another', async () => {
  await using sandbox = await createSandbox({ phones: 'all' })
  await sandbox.control.addPerson({ username: 'carol' })
  expect((await sandbox.control.people()).map(({ hasPhone }) => hasPhone)).toEqual([
    true,
    true,
    false,
  ])
})
