import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { postern, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import type { Json, Received, Reply } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'
import { expectSettled, putsOf, rotationOf, shownBy } from './support.ts'

const SENDS = 50
const SLOW_MS = 150
const PATIENCE = { timeout: 180_000 }
/** Sends are held for up to 100 s: on a slow machine a command alone may take long. */
const stage = useStage({ env: { TESTS_PATIENCE: '5' } })

interface Arrived {
  armored: string
  /** What the service published when it came, and when it was answered. */
  atFirst: string | null
  atLast: string | null
}

/** Lets the service take its time for each message, and notes which key it published meanwhile. */
function slowly(arrived: Arrived[], ms: number) {
  return stage.double.script('POST', '/messages', async (request: Received): Promise<Reply> => {
    const atFirst = shownBy(stage)
    const reply = stage.double.world.answer(request, new Promise(() => {}))
    await pause(ms)
    arrived.push({ armored: request.json.armored, atFirst, atLast: shownBy(stage) })
    return await reply
  })
}

/** A send that the service holds, and a rotation that waits for it. */
async function rotationBehindASend() {
  const chat = await shownChat(stage, await stage.friend())
  const gate = Promise.withResolvers<void>()
  const held = stage.double.script('POST', '/messages', async (request: Received) => {
    await gate.promise
    return await stage.double.world.answer(request, new Promise(() => {}))
  })
  const mark = stage.double.mark()
  const first = stage.send(chat, 'first')
  await until(() => stage.double.calls('POST', '/messages', mark).length === 1, 'it is under way')
  const rotating = stage.sidecar.postern('key', 'rotate')
  await until(async () => (await rotationOf(stage.sidecar))?.phase === 'holding', 'it waits')
  const letGo = (): void => {
    held[Symbol.dispose]()
    gate.resolve()
  }
  return { chat, first, rotating, letGo }
}

// The tests of this file follow one another.
test(
  'fifty sends during a rotation all arrive once, each signed by the key shown at its time',
  PATIENCE,
  async () => {
    const { phone } = await stage.friend()
    const chat = await shownChat(stage, await stage.friend())
    const arrived: Arrived[] = []
    using _slow = slowly(arrived, SLOW_MS)
    const certificates = [stage.botCertificate]
    const mark = stage.double.mark()
    const sending: Promise<{ status: number; json: Json }>[] = [stage.send(chat, 'words 0')]
    await until(() => stage.double.calls('POST', '/messages', mark).length === 1, 'the first')
    let isOver = false
    const rotating = stage.sidecar.postern('key', 'rotate').finally(() => (isOver = true))
    // without a pause from before the rotation until after it, so that it cannot miss them
    while (!isOver || sending.length < SENDS) {
      sending.push(stage.send(chat, `words ${sending.length}`))
      // one at least is always in flight, and on a slow machine there are not ever more
      await pause(sending.length < SENDS ? 20 : SLOW_MS - 50)
    }
    const answers = await Promise.all(sending)
    expect((await rotating).code).toBe(0)
    // one at least goes out by the new key, however fast the others were
    answers.push(await stage.send(chat, `words ${sending.length}`))
    certificates.push(stage.botCertificate)

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(arrived).toHaveLength(answers.length)
    const texts = new Set<string>()
    for (const certificate of certificates) await phone.know(certificate)
    for (const { armored, atFirst, atLast } of arrived) {
      // while a message is at the service, no other key is published
      expect(atFirst).toBe(atLast)
      const opened = await phone.open(armored)
      expect(opened.signer).toBe(atFirst)
      texts.add(opened.text)
    }
    expect(texts.size).toBe(answers.length)
    expect(new Set(arrived.map(({ atFirst }) => atFirst)).size).toBe(2)
    await expectSettled(stage, { retired: 1 })
  },
)

test('`key rotate --abandon` ends a rotation that waits for a send, without publishing its key', async () => {
  const puts = putsOf(stage)
  const { chat, first, rotating, letGo } = await rotationBehindASend()
  await postern(stage, 'key', 'rotate', '--abandon')
  expect((await rotating).stderr).toContain('abandoned')
  expect(putsOf(stage)).toEqual(puts)
  const second = stage.send(chat, 'second')
  letGo()
  expect([(await first).status, (await second).status]).toEqual([201, 201])
  await expectSettled(stage, { retired: 1 })
})

test('an edit during a rotation waits, and is signed by the new key', async () => {
  const { phone } = await stage.friend()
  const chat = await shownChat(stage, await stage.friend())
  const { json } = await stage.send(chat, 'to be edited')
  const before = stage.double.world.bot
  let isLate = true
  using _late = stage.double.script('GET', '/me', () =>
    isLate ? { json: { ok: true, result: before } } : undefined,
  )
  const rotating = stage.sidecar.postern('key', 'rotate')
  await until(async () => (await rotationOf(stage.sidecar))?.phase === 'confirming', 'it is asked')
  const mark = stage.double.mark()
  const editing = stage.edit(chat, json.result.id, { text: 'edited' })
  isLate = false
  expect([(await editing).status, (await rotating).code]).toEqual([200, 0])
  const opened = await phone.open(stage.bodies(mark)[0].armored, stage.botCertificate)
  expect(opened).toEqual({ text: 'edited', signer: shownBy(stage) })
})
