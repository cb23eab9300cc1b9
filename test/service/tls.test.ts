import { OWN_CALL } from '../../src/clients/may-client.ts'
import { contentOf } from '../../src/kernel/unseen.ts'
import { createServer } from 'node:https'
import type { TlsOptions } from 'node:tls'
import { expect, test } from 'vitest'
import { Authority, type Identity } from './certificates.ts'
import { listening } from '../support/listening.ts'
import { door, failing, ok, outbound } from './support.ts'

const authority = new Authority()
const HERE = 'IP:127.0.0.1'

async function secure(identity: Identity & TlsOptions): Promise<{ url: string; seen: unknown[] }> {
  const seen: unknown[] = []
  const server = createServer(identity, (request, response) => {
    seen.push(request.headers)
    ok(response, {
      protocol: (request.socket as unknown as { getProtocol(): string }).getProtocol(),
    })
  })
  server.on('tlsClientError', () => {})
  return { url: await listening(server, 'https'), seen }
}

test('a certificate of the configured authority is accepted over TLS 1.3 and 1.2', async () => {
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
    const { url } = await secure({ ...authority.issue(HERE), maxVersion })
    const { upstream } = door(url, { ca: authority.cert })
    expect(contentOf(await upstream.ask({ method: 'GET', path: '/me' }))).toEqual({
      protocol: maxVersion,
    })
  }
})

test.each([
  ['of an unknown authority', () => authority.issue(HERE), false],
  ['in the past', () => authority.issue(HERE, ['20200101', '20210101']), true],
  ['in the future', () => authority.issue(HERE, ['20390101', '20400101']), true],
  ['for another address', () => authority.issue('IP:127.0.0.2'), true],
  ['for another name', () => authority.issue('DNS:service.example'), true],
  ['signed by itself', () => authority.selfSigned(HERE), true],
] as const)(
  'a service with a certificate %s is refused and receives no token',
  async (_which, identity, withCa) => {
    const { url, seen } = await secure(identity())
    const { upstream, emitted } = door(url, withCa ? { ca: authority.cert } : {})
    const signal = new AbortController().signal
    const errors = await Promise.all([
      failing(upstream.ask({ method: 'GET', path: '/me' })),
      failing(upstream.send(outbound.send(), OWN_CALL)),
      failing(upstream.poll({ query: '', timeoutSeconds: 0, signal })),
    ])
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'postern_upstream_unreachable', status: 502 })
      expect(error.message).toMatch(/: [A-Z_]+$/)
    }
    expect(seen).toEqual([])
    expect(emitted.map(([name]) => name)).not.toContain('answered')
  },
)

test('a service with TLS 1.1 is refused', async () => {
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' } as const
  const ciphers = 'DEFAULT@SECLEVEL=0'
  const { url, seen } = await secure({ ...authority.issue(HERE), ...old, ciphers })
  const { upstream } = door(url, { ca: authority.cert })
  const error = await failing(upstream.relay({ method: 'GET', path: '/me' }))
  expect(error.code).toBe('postern_upstream_unreachable')
  expect(seen).toEqual([])
})

test('NODE_TLS_REJECT_UNAUTHORIZED=0 does not disable the check of the certificate', async () => {
  const { url, seen } = await secure(authority.selfSigned(HERE))
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  try {
    const error = await failing(door(url).upstream.relay({ method: 'GET', path: '/me' }))
    expect(error.code).toBe('postern_upstream_unreachable')
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  }
  expect(seen).toEqual([])
})
