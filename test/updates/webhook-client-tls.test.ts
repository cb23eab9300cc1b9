import { spawn } from '../support/programs.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { Authority } from '../upstream/certificates.ts'
import { openBot } from './bot.ts'
import { mortal } from '../support/mortal.ts'

const CLIENT = fileURLToPath(new URL('../../src/updates/webhook-client.ts', import.meta.url))
const CLOCK = fileURLToPath(new URL('../../src/util/clock.ts', import.meta.url))
const authority = new Authority()
const caFile = join(authority.folder, 'ca')

/**
 * Delivers in a process of its own, as the roots of a process are read at its start.
 * @param o `times` one after the other; the outcome is that of the last
 */
async function deliver(
  url: string,
  o: { trusts: boolean; times?: number },
): Promise<{ kind: string }> {
  const script = join(authority.folder, 'deliver.ts')
  writeFileSync(
    script,
    `import { WebhookClient } from ${JSON.stringify(CLIENT)}
     import { REAL_CLOCK } from ${JSON.stringify(CLOCK)}
     const resolve = () => Promise.resolve(['127.0.0.1'])
     const client = new WebhookClient({ allowHosts: null, clock: REAL_CLOCK, resolve })
     const { signal } = new AbortController()
     const delivery = { url: process.argv[2], secret: 's', body: '{}', signal, mayLeave: () => true }
     for (let n = 1; n < ${o.times ?? 1}; n++) await client.deliver(delivery)
     process.stdout.write(JSON.stringify(await client.deliver(delivery)))
     client[Symbol.dispose]()`,
  )
  const child = spawn(...mortal(process.execPath, [script, url]), {
    env: { PATH: '/usr/bin:/bin', ...(o.trusts && { NODE_EXTRA_CA_CERTS: caFile }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout)) as { kind: string }
}

describe('a webhook by https', () => {
  test('is delivered to where the certificate is for the name in the url', async () => {
    const bot = await openBot(undefined, { tls: authority.issue('DNS:bot.example.org') })
    const url = `https://bot.example.org:${bot.port}/hook`
    expect((await deliver(url, { trusts: true })).kind).toBe('delivered')
    expect(bot.deliveries[0]?.headers.host).toBe(`bot.example.org:${bot.port}`)
  })

  test('a closing dot changes nothing about that', async () => {
    const bot = await openBot(undefined, { tls: authority.issue('DNS:bot.example.org') })
    const url = `https://bot.example.org.:${bot.port}/hook`
    expect((await deliver(url, { trusts: true })).kind).toBe('delivered')
  })

  test('an address in the url must stand in the certificate', async () => {
    const bot = await openBot(undefined, { tls: authority.issue('IP:127.0.0.1') })
    const url = `https://127.0.0.1:${bot.port}/hook`
    expect((await deliver(url, { trusts: true })).kind).toBe('delivered')
  })

  test.each([
    ['another name', () => authority.issue('DNS:other.example.org'), true],
    [
      'the address that was called instead of the name',
      () => authority.issue('IP:127.0.0.1'),
      true,
    ],
    ['nobody else vouching for it', () => authority.selfSigned('DNS:bot.example.org'), true],
    ['an authority that is not trusted', () => authority.issue('DNS:bot.example.org'), false],
    [
      'a date that has passed',
      () => authority.issue('DNS:bot.example.org', ['20200101', '20210101']),
      true,
    ],
  ] as const)('a certificate with %s gets nothing', async (_what, identity, trusts) => {
    const bot = await openBot(undefined, { tls: identity() })
    const outcome = await deliver(`https://bot.example.org:${bot.port}/hook`, { trusts })
    expect(outcome.kind).toBe('untrusted')
    expect(bot.deliveries).toEqual([])
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a certificate with another name gets nothing by a session of %s either',
    async (version) => {
      const identity = authority.issue('DNS:other.example.org')
      const tls = { ...identity, minVersion: version, maxVersion: version }
      const bot = await openBot(undefined, { tls })
      const url = `https://bot.example.org:${bot.port}/hook`
      expect((await deliver(url, { trusts: true, times: 3 })).kind).toBe('untrusted')
      expect(bot.deliveries).toEqual([])
    },
  )

  test('a bot that speaks no TLS gets nothing', async () => {
    const bot = await openBot()
    const outcome = await deliver(`https://bot.example.org:${bot.port}/hook`, { trusts: true })
    expect(outcome.kind).toBe('untrusted')
    expect(bot.deliveries).toEqual([])
  })

  test.each([
    ['bot.example.org', 'bot.example.org'],
    ['bot.example.org.', 'bot.example.org'],
    ['127.0.0.1', null],
  ])('asks %s for the certificate of its name, and an address for none', async (host, name) => {
    const names: string[] = []
    const identity = authority.selfSigned('DNS:bot.example.org')
    const SNICallback = (asked: string, done: (error: null) => void): void => {
      names.push(asked)
      done(null)
    }
    const bot = await openBot(undefined, { tls: { ...identity, SNICallback } })
    const outcome = await deliver(`https://${host}:${bot.port}/hook`, { trusts: true })
    expect(outcome.kind).toBe('untrusted')
    expect(names).toEqual(name === null ? [] : [name])
  })
})
