import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { rawRequest, type RawRequest } from './raw-request.ts'

/** Asks one of a sandbox’s listeners under a Host. Gives status and body. */
async function under(host: string, url: string, o: RawRequest = {}): Promise<[number, string]> {
  const { status, body } = await rawRequest(url, { ...o, headers: { host, ...o.headers } })
  return [status, body]
}

/** The status of both listeners under a Host. */
async function statuses({ url, controlUrl }: Sandbox, host: string) {
  return [(await under(host, url))[0], (await under(host, controlUrl))[0]]
}

const known = [404, 200]
const refused = [421, 421]
const everywhere = (options: SandboxOptions = {}) => createSandbox({ host: '0.0.0.0', ...options })

test('both listeners accept an allowed Host with any port and case, and answer others with 421', async () => {
  await using sandbox = await createSandbox({ allowedHosts: ['sandbox', 'Other.Example'] })
  for (const host of ['sandbox', 'SANDBOX:8800', 'other.example', 'localhost', '127.0.0.1:1']) {
    expect(await statuses(sandbox, host), host).toEqual(known)
  }
  for (const host of ['sandbox.example', 'xsandbox', hostname(), 'evil.example']) {
    expect(await statuses(sandbox, host), host).toEqual(refused)
  }
})

test('the refusal of a Host names localhost and `--allowed-host`', async () => {
  await using sandbox = await createSandbox()
  for (const url of [sandbox.url, sandbox.controlUrl]) {
    const [, body] = await under('sandbox:8800', url)
    expect(JSON.parse(body)).toMatchObject({
      ok: false,
      error: {
        code: 'postern_host_refused',
        message: expect.stringMatching(/localhost, or start it with --allowed-host and this name/),
      },
    })
  }
})

test('a sandbox on every interface accepts the host name of its machine, and no other addresses', async () => {
  await using sandbox = await everywhere()
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await statuses(sandbox, hostname())).toEqual([404, 401])
  for (const host of ['0.0.0.0', 'sandbox', '198.51.100.7']) {
    expect(await statuses(sandbox, host), host).toEqual(refused)
  }
})

test('`sandbox.url` and the addresses of worlds have the first allowed host name', async () => {
  await using sandbox = await everywhere({ allowedHosts: ['sandbox', 'other'] })
  const { port } = new URL(sandbox.url)
  expect(sandbox.url).toBe(`http://sandbox:${port}`)
  const world = await sandbox.control.addWorld({ name: 'one' })
  expect(world.url).toBe(`http://sandbox:${port}/worlds/one`)
  expect(new URL(world.controlUrl).hostname).toBe('sandbox')
})

test('`/healthz` of the control accepts any Host, but no web page', async () => {
  await using sandbox = await everywhere()
  const { controlUrl } = sandbox
  const path = '/healthz'
  expect(await under('10.1.2.3:8801', controlUrl, { path })).toEqual([
    200,
    JSON.stringify({ ok: true, result: { healthy: true } }),
  ])
  expect(await under('10.1.2.3', controlUrl, { path, method: 'HEAD' })).toEqual([200, ''])
  expect((await under('10.1.2.3', controlUrl, { path: `${path}/?from=probe` }))[0]).toBe(200)
  const page = { path, headers: { origin: 'https://evil.example' } }
  expect((await under('10.1.2.3', controlUrl, page))[0]).toBe(403)
  expect((await under('10.1.2.3', controlUrl, { path: '/people' }))[0]).toBe(421)
  expect((await under('10.1.2.3', sandbox.url, { path }))[0]).toBe(421)
})
