/** What an operator sees of a chat before anything is sent, or before a key is published at all. */
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

const stage = useStage()

const run = (...args: string[]) => stage.sidecar.postern(...args)

const show = (chatId: number, ...more: string[]) => run('chat', 'show', String(chatId), ...more)

test('`chat show` of a protected group lists its readers and the skipped members, and sends nothing', async () => {
  const person = await stage.friend()
  const broken = stage.double.world.addUser({ certificate: 'none', fingerprint: 'ab'.repeat(20) })
  const chat = stage.group([person, broken])
  await stage.show(chat)
  const since = stage.double.log.length
  const { code, stdout } = await show(chat.id)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^a message is +sealed/m)
  expect(stdout).toMatch(new RegExp(`^can read it +person ${person.id}, [0-9a-f]{40}$`, 'm'))
  expect(stdout).toMatch(new RegExp(`^skipped +person ${broken.id}, .*: unparseable`, 'm'))
  expect(stage.bodies(since)).toEqual([])
})

test('`chat show` fails for a chat that the bot never received', async () => {
  const { code, stderr } = await show(424242)
  expect([code, stderr]).toEqual([1, expect.stringContaining('chat 424242 is not known')])
})

test('`check --chats` fails when a message into one of the chats would be refused', async () => {
  const broken = stage.double.world.addUser({ certificate: 'none', fingerprint: 'cd'.repeat(20) })
  const chat = stage.group([broken])
  await stage.show(chat)
  const { code, stdout, stderr } = await run('check', '--chats', '--json')
  expect([code, stderr]).toEqual([1, expect.stringContaining('a message would not be sent into 1')])
  const chats = JSON.parse(stdout) as { chatId: number; body: string; problem: unknown }[]
  expect(chats.length).toBeGreaterThan(1)
  expect(chats.find(({ chatId }) => chatId === chat.id)).toMatchObject({
    body: 'refused',
    people: [{ userId: broken.id, skipped: 'unparseable' }],
    problem: { code: 'postern_recipient_unusable' },
  })
})
