import { afterAll, expect, it } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ALL_CASES } from './cases/all.ts'
import { LiveDriver } from './ways/live.ts'

/** The suite has only its address, a token and a chat. */
const sandbox = await createSandbox({ rates: 'off' })
const { url, token, home, control } = sandbox
const driver = await LiveDriver.create({ url, token, chats: [home.privateChat] })
afterAll(async () => {
  await driver[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
})

const isPlayed = (has: LiveDriver) => ALL_CASES.filter((one) => has.whyNot(one) === null)

const alone = isPlayed(driver)
it.each(alone.map((one) => [`${one.section}: ${one.name}`, one] as const))('%s', (_name, one) =>
  driver.play(one),
)

it('`LiveDriver` also uses the chats of waiting updates, and confirms none', async () => {
  const { alice, readableGroup: chatId } = home
  await control.post({ userId: alice.id, chatId, text: '/start' })
  const withGroup = await LiveDriver.create({ url, token, chats: [] })
  const more = isPlayed(withGroup).filter((one) => !alone.includes(one))
  expect(more.length).toBeGreaterThan(5)
  for (const one of more) await withGroup.play(one)
  expect(await control.queued({ botId: home.bot.id })).toHaveLength(1)
  await withGroup[Symbol.asyncDispose]()
})

it('`LiveDriver` does not use an encrypted chat', async () => {
  const other = await LiveDriver.create({ url, token, chats: [home.encryptedGroup] })
  const groupless = isPlayed(other).filter(({ needs }) => needs.includes('private chat'))
  expect(groupless).toEqual([])
  await other[Symbol.asyncDispose]()
})

it('`LiveDriver.create` rejects an unknown token', async () => {
  const wrong = `${token.slice(0, -4)}AAAA`
  await expect(LiveDriver.create({ url, token: wrong, chats: [] })).rejects.toThrow(/unauthorized/)
})
