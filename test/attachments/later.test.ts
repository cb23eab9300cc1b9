/** Files whose sender or bot has changed keys since they were named, and since they were given. */
import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import { named, outcomeOf, picture, sealedBy } from './support.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const outcome = (url: string): Promise<string> => outcomeOf(stage, url)

/** A person whose signed file the bot was told of. */
async function known() {
  const from = await stage.person()
  const chat = stage.privateChat(from)
  await stage.show(chat)
  const name = async (): Promise<string> =>
    await named(stage, await sealedBy(from, stage, picture()), { chat, from })
  return { from, chat, name }
}

/** The person revokes the certificate, and the service shows that when the bot sends next. */
async function revoke(from: Person, chat: Awaited<ReturnType<typeof known>>['chat']) {
  await from.phone.revoke()
  Object.assign(from, { key: keyOf(from.phone) })
  const { json } = await stage.send(chat, canary())
  expect(json.error.code).toBe('postern_recipient_unusable')
}

test('a file whose signer’s certificate is revoked is refused, also when it was served before', async () => {
  const { from, chat, name } = await known()
  const [given, fresh] = [await name(), await name()]
  expect(await outcome(given)).toBe('verified')
  await revoke(from, chat)
  for (const url of [given, fresh]) expect(await outcome(url)).toBe('422 postern_bad_signature')
  await stage.restart()
  for (const url of [given, fresh]) expect(await outcome(url)).toBe('422 postern_bad_signature')
})

test('a file sealed before a key rotation is served after the rotation, opened before or not', async () => {
  const { name } = await known()
  const [given, fresh] = [await name(), await name()]
  expect(await outcome(given)).toBe('verified')
  expect((await stage.sidecar.postern('key', 'rotate')).code).toBe(0)
  for (const url of [given, fresh]) expect(await outcome(url)).toBe('verified')
  await stage.restart()
  for (const url of [given, fresh]) expect(await outcome(url)).toBe('verified')
})
