import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { PAIR, still } from './seeded.ts'
import { ask, homeScene } from './support.ts'

const namesIn = async ({ control }: Sandbox) => (await control.chats()).map(({ name }) => name)

test('chats have the names of their seed, and those of the default world have names', async () => {
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

test('a chat with the name of another is refused and not created', async () => {
  const { sandbox, control, home } = await homeScene({ clock: 'running' })
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

test('`addPrivateChat` for an existing pair returns that chat under its old name', async () => {
  const { sandbox, control, home } = await homeScene({ clock: 'running' })
  const pair = { userId: home.alice.id, botId: home.bot.id }
  expect((await control.addPrivateChat({ ...pair, name: 'other' })).id).toBe(home.privateChat)
  expect((await namesIn(sandbox))[0]).toBe('dm')
})

test('`GET /chats/:id` contains the title of a chat, not its name in the seed', async () => {
  await using sandbox = await createSandbox()
  const { result } = await ask(sandbox, `GET /chats/${sandbox.home.encryptedGroup}`)
  const text = JSON.stringify(result)
  expect(text).toContain('Back room')
  expect(text).not.toContain('backroom')
})
