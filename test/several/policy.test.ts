import { expect, test } from 'vitest'
import { until } from '../support/sidecar.ts'
import { startStage } from './support.ts'

test('`/readyz` with `admin.readyWhen: any` is 200 as soon as one bot is ready', async () => {
  await using stage = await startStage({ bots: [], env: { POSTERN_ADMIN_READY_WHEN: 'any' } })
  expect((await stage.admin('/readyz')).status).toBe(503)
  await stage.write('good')
  await stage.add('bad', { upstream: { url: 'http://127.0.0.1:1' } })
  await stage.ready('good')
  await until(() => stage.reasons('bad')?.includes('upstream') === true, 'no service')
  const { status, json } = await stage.admin('/readyz')
  expect([status, json.ready]).toEqual([200, true])
  expect(json.reasons.every(({ bot }: { bot: string }) => bot === 'bad')).toBe(true)
})

test('a process without bots serves probes, is ready and refuses every token', async () => {
  await using stage = await startStage({ bots: [] })
  expect((await stage.admin('/readyz')).json).toEqual({ ready: true, reasons: [] })
  expect((await stage.admin('/status')).json.bots).toEqual([])
  expect((await stage.call('', 'GET', '/me', { token: 'any' })).status).toBe(401)
})
