/** Beyond loopback, the control and the page of a sandbox require their token. */
import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'

const TOKEN = 't'.repeat(32)
const wide = (options: SandboxOptions = {}) => createSandbox({ host: '0.0.0.0', ...options })

/** The address of the control without its token, and the token. */
function parts({ controlUrl }: Sandbox): { base: string; token: string } {
  const { origin, password } = new URL(controlUrl)
  return { base: origin, token: password }
}

const basic = (user: string, secret: string): string =>
  `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`

async function statusOf(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(url, { method, headers, redirect: 'manual' })
  await answer.body?.cancel()
  return answer.status
}

test.each([undefined, '127.0.0.1', 'localhost', '::1'])(
  'a sandbox on the loopback address %s has no control token',
  async (host) => {
    await using sandbox = await createSandbox(host === undefined ? {} : { host })
    const page = await sandbox.startPage(host === undefined ? {} : { host })
    expect([parts(sandbox).token, new URL(page.url).search]).toEqual(['', ''])
    expect(await statusOf(`${sandbox.controlUrl}/people`, {}, 'POST')).toBe(200)
    expect(await statusOf(page.url)).toBe(200)
  },
)

test('each sandbox beyond loopback has its own control token of 32 random bytes', async () => {
  await using one = await wide()
  await using other = await wide()
  const tokens = [parts(one).token, parts(other).token]
  expect(tokens).toEqual([
    expect.stringMatching(/^[\w-]{43}$/),
    expect.stringMatching(/^[\w-]{43}$/),
  ])
  expect(tokens[0]).not.toBe(tokens[1])
})

test('a given control token is required on loopback too, and refused if weak or malformed', async () => {
  await using sandbox = await createSandbox({ controlToken: TOKEN })
  expect(parts(sandbox).token).toBe(TOKEN)
  expect(await statusOf(`${parts(sandbox).base}/people`, {}, 'POST')).toBe(401)
  for (const controlToken of ['', 'short', `${TOKEN} `, 'a:b'.repeat(20), 'ü'.repeat(40)]) {
    await expect(createSandbox({ controlToken }), controlToken).rejects.toThrow(/32 to 128/)
  }
})

test('every control path of every world is 401 without the token, except `/healthz`', async () => {
  await using sandbox = await wide()
  const { base, token } = parts(sandbox)
  await sandbox.control.addWorld({ name: 'one' })
  const paths: [string, string][] = [
    ['GET', '/'],
    ['GET', '/openapi.json'],
    ['GET', '/bot-openapi.json'],
    ['GET', '/events'],
    ['GET', '/people'],
    ['GET', '/none'],
    ['POST', '/people'],
    ['POST', '/addWorld'],
    ['POST', '/none'],
    ['OPTIONS', '/people'],
    ['GET', '//healthz'],
    ['GET', '/healthz/people'],
    ['GET', '/events?token=' + token],
    ['POST', '/people?from=/healthz'],
  ]
  for (const [method, path] of paths.flatMap(([verb, below]): [string, string][] => [
    [verb, below],
    [verb, `/worlds/one${below}`],
  ])) {
    expect([method, path, await statusOf(base + path, {}, method)]).toEqual([method, path, 401])
  }
  expect(await statusOf(`${base}/healthz`)).toBe(200)
})

test('the control accepts its token as Bearer and as Basic password, and in no other form', async () => {
  await using sandbox = await wide()
  const { base, token } = parts(sandbox)
  const at = `${base}/people`
  for (const authorization of [
    `Bearer ${token}`,
    `bearer ${token}`,
    basic('any', token),
    basic('', token),
  ]) {
    expect(await statusOf(at, { authorization }, 'POST'), authorization).toBe(200)
  }
  const wrong = [
    token,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token}x`,
    `Bearer ${token},Bearer x`,
    'Bearer ',
    `Token ${token}`,
    basic(token, ''),
    `Basic ${token}`,
    `Bearer ${sandbox.token}`,
  ]
  for (const authorization of wrong) {
    expect(await statusOf(at, { authorization }, 'POST'), authorization).toBe(401)
  }
  expect(await statusOf(at, { cookie: `postern_sandbox=${token}` }, 'POST')).toBe(401)
  const answer = await fetch(at, { method: 'POST' })
  expect(await answer.json()).toMatchObject({
    ok: false,
    error: {
      status: 401,
      code: 'unauthorized',
      message: expect.stringContaining('controlUrl') as string,
    },
  })
})

test('`createControlClient` reads the token from the password of the address of any world', async () => {
  await using sandbox = await wide({ controlToken: TOKEN })
  const control = createControlClient(sandbox.controlUrl)
  expect(await control.people()).toMatchObject([{ username: 'alice' }, { username: 'bob' }])
  const world = await control.addWorld({ name: 'one' })
  expect(new URL(world.controlUrl)).toMatchObject({ password: TOKEN, pathname: '/worlds/one' })
  expect(await createControlClient(world.controlUrl).people()).toHaveLength(2)
  await expect(createControlClient(parts(sandbox).base).people()).rejects.toThrow(/token/)
})

test('the control token is in no document of the control listener', async () => {
  await using sandbox = await wide({ controlToken: TOKEN })
  const { base } = parts(sandbox)
  const authorization = `Bearer ${TOKEN}`
  for (const path of ['/', '/openapi.json', '/bot-openapi.json']) {
    const answer = await fetch(base + path, { headers: { authorization } })
    expect([path, answer.status, (await answer.text()).includes(TOKEN)]).toEqual([path, 200, false])
  }
})

test('the page exchanges its token for a cookie with HttpOnly and SameSite=Strict, and requires it', async () => {
  await using sandbox = await wide()
  const page = await sandbox.startPage({ host: '0.0.0.0' })
  const { origin, searchParams } = new URL(page.url)
  const token = searchParams.get('token') ?? ''
  const first = await fetch(page.url, { redirect: 'manual' })
  expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
  expect(first.headers.get('referrer-policy')).toBe('no-referrer')
  const [cookie = '', ...rules] = (first.headers.get('set-cookie') ?? '').split('; ')
  expect(rules.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict'])
  for (const path of [
    '/',
    '/app.js',
    '/lib/htm.js',
    '/traffic',
    '/events',
    '/control/people',
    '/none',
  ]) {
    const method = path.startsWith('/control') ? 'POST' : 'GET'
    expect([path, await statusOf(origin + path, {}, method)]).toEqual([path, 401])
    const others = { cookie: `a=b; ${cookie}; c=d` }
    const found = path === '/none' ? 404 : 200
    expect([path, await statusOf(origin + path, others, method)]).toEqual([path, found])
  }
  for (const wrong of [cookie.slice(0, -1), `${cookie}x`, `x${cookie}`, 'postern=', token]) {
    expect([wrong, await statusOf(origin, { cookie: wrong })]).toEqual([wrong, 401])
  }
  for (const query of [
    '?token=',
    '?token=x',
    `?token=${token}x`,
    `?token=x&token=${token}`,
    `?Token=${token}`,
  ]) {
    const answer = await fetch(`${origin}/${query}`, { redirect: 'manual' })
    expect([query, answer.status, answer.headers.get('set-cookie')]).toEqual([query, 401, null])
  }
  expect(await statusOf(`${origin}/traffic?token=${token}`)).toBe(401)
  const bearer = { authorization: `Bearer ${token}` }
  expect(await statusOf(`${origin}/control/people`, bearer, 'POST')).toBe(200)
})

test('a page beyond loopback has a token although its sandbox on loopback has none', async () => {
  await using sandbox = await createSandbox()
  const page = await sandbox.startPage({ host: '0.0.0.0' })
  expect(parts(sandbox).token).toBe('')
  expect(new URL(page.url).searchParams.get('token')).toMatch(/^[\w-]{43}$/)
  expect(await statusOf(new URL(page.url).origin)).toBe(401)
})
