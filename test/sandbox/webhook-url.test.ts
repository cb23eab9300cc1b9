import { expect, test } from 'vitest'
import { isPublicAddress } from '../../src/sandbox/webhook/url.ts'
import { homeScene, outcome, still } from './support.ts'

const PUBLIC = '93.184.216.34'

test('a webhook whose host does not resolve is refused as `bad_webhook`', async () => {
  await using sandbox = await still({ resolveHost: () => Promise.reject(new Error('ENOTFOUND')) })
  const body = { url: 'https://bot.example/' }
  expect(await outcome(sandbox, 'POST /webhook', { body })).toBe('bad_webhook')
})

test('a webhook host that resolves to a private address at delivery receives nothing', async () => {
  const addresses = [PUBLIC, '127.0.0.1']
  const { sandbox, alice, bot, privateChat } = await homeScene({
    resolveHost: async () => [addresses.shift() ?? '127.0.0.1'],
  })
  await outcome(sandbox, 'POST /webhook', { body: { url: 'https://bot.example/' } })
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'x' })
  let error: unknown = null
  while (error === null) {
    error = (await sandbox.control.bot({ botId: bot.id })).webhook['lastError']
  }
  expect(error).toBe('the url does not resolve to a public address')
})

test('`isPublicAddress` is false for private, local, reserved and embedded addresses', () => {
  const special = ['10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.1.1', '127.1.1.1', '0.0.0.0']
  const more = ['100.64.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fd00::1']
  const carriers = ['::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', '2001:db8::1', 'x', '']
  for (const address of [...special, ...more, ...carriers]) {
    expect(isPublicAddress(address), address).toBe(false)
  }
  for (const address of [PUBLIC, '172.32.0.1', '2606:4700::1111']) {
    expect(isPublicAddress(address), address).toBe(true)
  }
})
