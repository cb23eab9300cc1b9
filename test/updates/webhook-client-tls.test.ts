import { spawn } from '../support/programs.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { Authority, type Identity } from '../service/certificates.ts'
import { openBot, type WebhookBot } from './bot.ts'
import { mortal } from '../support/mortal.ts'

const CLIENT = fileURLToPath(new URL('../../src/updates/webhook-client.ts', import.meta.url))
const CLOCK = fileURLToPath(new URL('../../src/util/clock.ts', import.meta.url))
const authority = new Authority()
const folder = mkdtempSync(join(tmpdir(), 'postern-tls-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'ca'), authority.cert)
const caFile = join(folder, 'ca')

const named = authority.issue('DNS:bot.example.org')
const other = authority.issue('DNS:other.example.org')
const selfSigned = authority.selfSigned('DNS:bot.example.org')

/**
 * Delivers in a process of its own, as the roots of a process are read at its start.
 * @param urls one after the other
 * @returns the kinds of their outcomes
 */
async function deliver(urls: string[], { trusts = true } = {}): Promise<string[]> {
  const script = join(folder, 'deliver.ts')
  writeFileSync(
    script,
    `import { WebhookClient } from ${JSON.stringify(CLIENT)}
     import { REAL_CLOCK } from ${JSON.stringify(CLOCK)}
     const resolve = () => Promise.resolve(['127.0.0.1'])
     const client = new WebhookClient({ allowHosts: null, clock: REAL_CLOCK, resolve })
     const { signal } = new AbortController()
     const delivery = { secret: 's', body: '{}', signal, mayLeave: () => true }
     const kinds = []
     for (const url of process.argv.slice(2)) {
       kinds.push((await client.deliver({ url, ...delivery })).kind)
     }
     process.stdout.write(JSON.stringify(kinds))
     client[Symbol.dispose]()`,
  )
  const child = spawn(...mortal(process.execPath, [script, ...urls]), {
    env: { PATH: '/usr/bin:/bin', ...(trusts && { NODE_EXTRA_CA_CERTS: caFile }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout)) as string[]
}

const urlOf = ({ port }: WebhookBot, host = 'bot.example.org') => `https://${host}:${port}/hook`

test('a delivery by https reaches a bot whose certificate names the host or address of the url', async () => {
  const bot = await openBot(undefined, { tls: named })
  const addressed = await openBot(undefined, { tls: authority.issue('IP:127.0.0.1') })
  const urls = [urlOf(bot), urlOf(bot, 'bot.example.org.'), urlOf(addressed, '127.0.0.1')]
  expect(await deliver(urls)).toEqual(urls.map(() => 'delivered'))
  expect(bot.deliveries[0]?.headers.host).toBe(`bot.example.org:${bot.port}`)
})

test('a delivery by https sends nothing to a bot whose certificate is not valid for the url', async () => {
  const identities: [what: string, Identity & { maxVersion?: 'TLSv1.2' }][] = [
    ['another name', other],
    ['another name, by TLS 1.2', { ...other, maxVersion: 'TLSv1.2' }],
    ['the address in place of the name', authority.issue('IP:127.0.0.1')],
    ['no authority', selfSigned],
    ['a past date', authority.issue('DNS:bot.example.org', ['20200101', '20210101'])],
  ]
  const bots = [await openBot()]
  for (const [, tls] of identities) bots.push(await openBot(undefined, { tls }))
  // a TLS session could be resumed at the second and third attempt
  const urls = bots.flatMap((bot) => [1, 2, 3].map(() => urlOf(bot)))
  expect(await deliver(urls)).toEqual(urls.map(() => 'untrusted'))
  expect(bots.flatMap(({ deliveries }) => deliveries)).toEqual([])
})

test('a delivery by https sends nothing to a bot whose authority is not trusted', async () => {
  const bot = await openBot(undefined, { tls: named })
  expect(await deliver([urlOf(bot)], { trusts: false })).toEqual(['untrusted'])
  expect(bot.deliveries).toEqual([])
})

test('a delivery by https names the host in its TLS handshake, and no address', async () => {
  const names: string[] = []
  const SNICallback = (name: string, done: (error: null) => void): void => {
    names.push(name)
    done(null)
  }
  const bot = await openBot(undefined, { tls: { ...selfSigned, SNICallback } })
  const hosts = ['bot.example.org', 'bot.example.org.', '127.0.0.1']
  const kinds = await deliver(hosts.map((host) => urlOf(bot, host)))
  expect(kinds).toEqual(hosts.map(() => 'untrusted'))
  expect(names).toEqual(['bot.example.org', 'bot.example.org'])
})
