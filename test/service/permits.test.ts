import { OWN_CALL } from '../../src/clients/may-client.ts'
import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { markupPermit, readablePermit } from '../support/permits.ts'
import { door, doorTo, failing, no, ok, service, TOKEN } from './support.ts'

const BUTTONS = '{"chatId":5,"markup":{"rows":[]}}'

/** A permit for readable words that holds until it is said to have ended. */
async function passing(route: 'send' | 'edit') {
  const path = route === 'send' ? '/messages' : '/messages/3'
  const state = { holds: true, isCaller: true }
  const require = (): void => {
    if (!state.isCaller) throw new Refusal('unauthorized')
  }
  return {
    state,
    stillMay: { ...OWN_CALL, require },
    permit: await readablePermit({ route, path, later: null }, () => state.holds),
  }
}

test('a call for later leaves on its own ground too, which is read after that of the permit', async () => {
  const { upstream, seen } = await doorTo((_request, response) => ok(response, {}))
  const [order, state] = [[] as string[], { holds: true, nowMs: 0 }]
  const renewed = (what: string) => async () => void order.push(what)
  const require = (): void => {
    if (!state.holds) throw new Refusal('postern_busy')
  }
  const later = { isForSealed: false, require, renew: renewed('later') }
  const target = { route: 'edit', path: '/messages/3', later } as const
  const more = {
    fresh: renewed('fresh'),
    time: { nowMs: () => 0, monotonicMs: () => (state.nowMs += 1000) },
  }
  const chat = { holds: true }
  const permit = await readablePermit(target, () => chat.holds, more)
  order.length = 0
  await upstream.edit(permit, OWN_CALL)
  expect([order, seen.length]).toEqual([['fresh', 'later'], 1])
  state.holds = false
  expect((await failing(upstream.edit(permit, OWN_CALL))).code).toBe('postern_busy')
  chat.holds = false
  expect((await failing(upstream.edit(permit, OWN_CALL))).code).toBe('postern_downgrade_refused')
  expect(seen).toHaveLength(1)
})

test('an expired permit allows neither a send nor an edit, and neither does a caller that is gone', async () => {
  const { upstream, seen } = await doorTo((_request, response) => ok(response, {}))
  for (const route of ['send', 'edit'] as const) {
    const { permit, state, stillMay } = await passing(route)
    state.holds = false
    expect((await failing(upstream[route](permit, OWN_CALL))).code).toBe(
      'postern_downgrade_refused',
    )
    Object.assign(state, { holds: true, isCaller: false })
    expect((await failing(upstream[route](permit, stillMay))).code).toBe('unauthorized')
    expect(seen).toEqual([])
  }
})

test('a permit that expires while the answer is lost prevents the repetition of the send', async () => {
  const { permit, state } = await passing('send')
  const { upstream, seen } = await doorTo((_request, response) => {
    state.holds = false
    no(response, 500, 'internal')
  })
  expect((await failing(upstream.send(permit, OWN_CALL))).code).toBe('postern_downgrade_refused')
  expect(seen).toHaveLength(1)
})

test.each(['send', 'edit'] as const)(
  'a permit for a %s that expires during a 401 is not used with the reloaded token',
  async (route) => {
    const { permit, state } = await passing(route)
    const { url, seen } = await service((_request, response) => {
      state.holds = false
      no(response, 401, 'unauthorized')
    })
    let token = TOKEN
    const reload = (): Promise<boolean> => Promise.resolve((token = 'another') !== TOKEN)
    const { upstream } = door(url, { token: { reveal: () => token, reload } })
    expect((await failing(upstream[route](permit, OWN_CALL))).code).toBe(
      'postern_downgrade_refused',
    )
    expect(seen).toHaveLength(1)
  },
)

test('a permit without end holds for every attempt', async () => {
  const permit = markupPermit({ route: 'send', path: '/messages', later: null })
  const { url, seen } = await service((_request, response, nth) =>
    nth === 1 ? no(response, 500, 'internal') : ok(response, {}),
  )
  expect((await door(url).upstream.send(permit, OWN_CALL)).status).toBe(200)
  expect(seen.map(({ body }) => body)).toEqual([BUTTONS, BUTTONS])
})

/** A door with one connection, and what ends the call that has it. */
async function crowded() {
  const answers: (() => void)[] = []
  const { url, seen } = await service((_request, response) => {
    answers.push(() => ok(response, {}))
  })
  const { upstream } = door(url, { limits: { connections: 1 } })
  const first = upstream.relay({ method: 'GET', path: '/me' })
  await expect.poll(() => seen.length).toBe(1)
  const end = async (): Promise<void> => {
    answers[0]?.()
    await first
  }
  return { upstream, seen, end }
}

test('a permit that expires while the send waits for a connection prevents the send', async () => {
  const { upstream, seen, end } = await crowded()
  const { permit, state } = await passing('send')
  const failed = failing(upstream.send(permit, OWN_CALL))
  await expect.poll(() => upstream.load().calls.waiting).toBe(1)
  state.holds = false
  await end()
  expect((await failed).code).toBe('postern_downgrade_refused')
  expect(seen).toHaveLength(1)
})

test('a call of the sidecar’s own that `requireAllowed` forbids is not sent once it has a connection', async () => {
  const { upstream, seen, end } = await crowded()
  let mayLeave = true
  const requireAllowed = (): void => {
    if (!mayLeave) throw new Refusal('postern_store_unwritable')
  }
  const call = upstream.ask({ method: 'PUT', path: '/key', body: '{}', requireAllowed })
  const failed = call.catch((error: unknown) => error)
  await expect.poll(() => upstream.load().calls.waiting).toBe(1)
  mayLeave = false
  await end()
  expect(await failed).toMatchObject({ code: 'postern_store_unwritable' })
  expect(seen).toHaveLength(1)
})
