import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage({ inside: true, env: { POSTERN_CACHE_CHAT_SECONDS: '0' } })

test('allow-readable --pending lifts the chats that were refused, and only those', async () => {
  const person = await stage.friend()
  const [first, second, untouched] = [1, 2, 3].map(() => stage.group([person]))
  if (!first || !second || !untouched) throw new Error('three groups')
  for (const chat of [first, second, untouched]) {
    await stage.send(chat, 'sealed')
    chat.historyVisible = true
  }
  await stage.send(first, 'x')
  await stage.edit(second, 7, { text: 'x' })
  const listed = JSON.parse((await stage.sidecar.postern('chat', 'list', '--json')).stdout) as {
    id: number
  }[]
  expect(listed.find(({ id }) => id === first.id)).toMatchObject({ latched: true, refused: true })
  expect(listed.find(({ id }) => id === untouched.id)).toMatchObject({
    latched: true,
    refused: false,
  })

  const done = await stage.sidecar.postern('chat', 'allow-readable', '--pending')
  expect(done.code, done.stderr).toBe(0)
  expect(done.stdout.trim().split('\n').toSorted()).toEqual([`${first.id}`, `${second.id}`])
  expect((await stage.send(first, 'readable')).status).toBe(201)
  expect((await stage.send(second, 'readable')).status).toBe(201)
  const words = canary()
  expect((await stage.send(untouched, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('allow-readable lifts a latch on the running sidecar once; the next sighting latches again', async () => {
  const person = await stage.friend()
  const chat = stage.group([person])
  await stage.send(chat, 'sealed')
  chat.historyVisible = true
  expect((await stage.send(chat, 'x')).json.error.code).toBe('postern_downgrade_refused')

  const done = await stage.sidecar.postern('chat', 'allow-readable', String(chat.id))
  expect([done.code, done.stdout.trim()]).toEqual([0, String(chat.id)])
  expect((await stage.send(chat, 'readable')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body.text).toBe('readable')

  chat.historyVisible = false
  const words = canary()
  expect((await stage.send(chat, words)).status).toBe(201)
  chat.historyVisible = true
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a lifted latch stays lifted across a restart', async () => {
  const chat = stage.group([await stage.friend()])
  await stage.send(chat, 'sealed')
  chat.historyVisible = true
  await stage.sidecar.postern('chat', 'allow-readable', String(chat.id))
  await stage.restart()
  expect((await stage.send(chat, 'readable')).status).toBe(201)
})

test('a private chat cannot be made readable by its id while the bot has a key', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  await stage.send(chat, 'sealed')
  chat.mode = 'open'
  await stage.sidecar.postern('chat', 'allow-readable', String(chat.id))
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

test('a chat that is not known is an error that names it, and no other is lifted', async () => {
  const chat = stage.group([await stage.friend()])
  await stage.send(chat, 'sealed')
  const done = await stage.sidecar.postern(
    'chat',
    'allow-readable',
    String(chat.id),
    '4711',
    '4712',
  )
  expect([done.code, done.stdout]).toEqual([1, ''])
  expect(done.stderr).toMatch(/^postern: chats 4711, 4712 are not known$/m)
  expect(done.stderr).toMatch(/^code: refused$/m)
  chat.historyVisible = true
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_downgrade_refused')
  stage.expectNowhere(words)
})

for (const args of [['--pending', '12'], ['twelve']]) {
  test(`allow-readable ${args.join(' ')} is a wrong use, with a hint`, async () => {
    const done = await stage.sidecar.postern('chat', 'allow-readable', ...args)
    expect([done.code, done.stdout]).toEqual([2, ''])
    expect(done.stderr).toMatch(/^hint: /m)
  })
}
