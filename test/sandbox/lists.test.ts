import { expect, test } from 'vitest'
import { A_KEY, ask, homeScene, protect } from './support.ts'

test('`control.bots` lists status, mode and queue of each bot, without tokens', async () => {
  const { sandbox, control, bot, alice, privateChat: chatId } = await homeScene()
  await control.addBot({ username: 'second_bot', allowGroups: false })
  await protect(sandbox)
  await control.post({ userId: alice.id, chatId, armored: 'x' })
  await control.pause({ botId: bot.id })
  const bots = await control.bots()
  expect(bots).toMatchObject([
    { id: bot.id, username: 'echo_bot', status: 'paused', mode: 'protected', queued: 1 },
    { username: 'second_bot', status: 'active', mode: 'open', allowGroups: false, webhook: null },
  ])
  expect(JSON.stringify(bots)).not.toContain(bot.token)
})

test('`control.people` lists keys, phones and closed accounts, and `control.chats` members', async () => {
  const { control, alice, bob, bot, readableGroup } = await homeScene()
  await control.publishKey({ userId: alice.id, ...A_KEY })
  await control.renameChat({ chatId: readableGroup, username: 'market' })
  await control.closeAccount({ userId: bob.id })
  const carol = await control.addPerson({ username: 'carol' })
  await control.givePhone({ userId: carol.id })
  expect(await control.people()).toMatchObject([
    { ...alice, firstName: 'Alice', fingerprint: A_KEY.fingerprint, hasPhone: false, gone: false },
    { ...bob, fingerprint: null, gone: true },
    { ...carol, hasPhone: true },
  ])
  expect((await control.chats())[1]).toEqual({
    id: readableGroup,
    kind: 'group',
    mode: 'open',
    trueMode: 'open',
    name: 'square',
    title: 'Market square',
    username: 'market',
    members: [alice.id, bot.id],
  })
})

test('`control.faults` lists the strikes of each active fault, without skipped calls', async () => {
  const { sandbox, control } = await homeScene()
  const fault = { name: 'error', route: 'getMe', after: 1, times: 2, status: 503 } as const
  const { id } = await control.fault(fault)
  await control.fault({ name: 'hang', route: 'getChat' })
  await ask(sandbox, 'GET /me')
  expect(await control.faults()).toMatchObject([{ struck: 0 }, { struck: 0 }])
  await ask(sandbox, 'GET /me')
  expect(await control.faults()).toEqual([
    { id, ...fault, struck: 1, left: 1 },
    { id: id + 1, name: 'hang', route: 'getChat', struck: 0, left: null },
  ])
  await ask(sandbox, 'GET /me')
  expect((await control.faults()).map(({ name }) => name)).toEqual(['hang'])
  await control.clearFaults()
  expect(await control.faults()).toEqual([])
})
