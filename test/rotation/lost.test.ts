import { expect, test } from 'vitest'
import { shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import { no, type Received, type Reply } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'
import { expectRefused, expectSettled, putsOf, rotate, shownBy } from './support.ts'

/** A service that hangs, or is late, is given up on in a third of the time. */
const stage = useStage({ env: { TESTS_PATIENCE: '0.3' } })
let retired = 0

const puts = () => stage.double.calls('PUT', '/key').length

/** Takes the key as the service does, and then does something else than answer. */
function takenThen(reply: Reply) {
  return async (request: Received): Promise<Reply> => {
    await stage.double.world.answer(request, new Promise(() => {}))
    return reply
  }
}

/** A rotation that is killed while the service has its key. */
async function killedWhile(reply: Parameters<typeof stage.double.script>[2]): Promise<number> {
  const since = puts()
  stage.double.script('PUT', '/key', reply, 1)
  const rotating = stage.sidecar.postern('key', 'rotate')
  await until(() => puts() > since, 'the key is at the service')
  await stage.sidecar.kill()
  expect((await rotating).code).toBe(1)
  return since
}

test('a sidecar seals nothing while neither the publication nor `/me` is answered', async () => {
  const chat = await shownChat(stage, await stage.friend())
  const before = shownBy(stage)
  const gone = stage.double.script('PUT', '/key', takenThen('cut'), 1)
  const silent = stage.double.script('GET', '/me', (_request: Received) =>
    shownBy(stage) === before ? undefined : 'cut',
  )
  const rotating = stage.sidecar.postern('key', 'rotate', '--watch')
  await stage.sidecar.whenReason('key-unpublished')
  const refused = await stage.send(chat, 'too early')
  expect([refused.status, refused.json.error.code]).toEqual([503, 'postern_key_unpublished'])
  for (const rule of [gone, silent]) rule[Symbol.dispose]()
  expect((await rotating).code).toBe(0)
  await stage.sidecar.whenReady()
  await expectSettled(stage, { retired: ++retired })
})

test('a kill after the service accepted the new key ends in one publication', async () => {
  const since = await killedWhile(takenThen('hang'))
  await stage.restart()
  await stage.sidecar.whenReady()
  expect(puts() - since).toBe(1)
  await expectSettled(stage, { retired: ++retired })
})

test('a rotation killed during its publication cannot be abandoned, and publishes the same key', async () => {
  const before = putsOf(stage).length
  await killedWhile('hang')
  const refusing = stage.double.script('PUT', '/key', no(403, 'forbidden'))
  await stage.restart()
  await stage.sidecar.whenReady()
  const abandoned = await stage.sidecar.postern('key', 'rotate', '--abandon')
  expectRefused(abandoned, 'refused', /may have the new key already/)
  refusing[Symbol.dispose]()
  await rotate(stage)
  expect(putsOf(stage).length - before).toBe(1)
  await expectSettled(stage, { retired: ++retired })
})
