import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { startSidecar } from '../../src/testing/index.ts'
import { callAt } from '../support/bot-call.ts'
import { resultOf, type Result } from './measure.ts'

const [EDITS, WITHIN_MS, LATEST_MS] = [20, 5000, 60_000]
const LATER = { prefer: 'respond-async' }

/**
 * An answer that streams: 20 edits of one message in 5 s, by the service's real rates; beside it the same
 * by the outbox without `coalesceEdits`. From the last edit until a person is shown its text.
 */
export async function streamingJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const results: Result[] = []
  for (const chat of ['privateChat', 'encryptedGroup'] as const) {
    if (!wanted(`streaming-${chat}`)) continue
    const ours = await stream(chat, { coalesceEdits: true, headers: {} })
    const each = await stream(chat, { coalesceEdits: false, headers: LATER })
    const { ms } = ours
    const notes = [ours.note, `each edit made: ${each.note}`]
    results.push(resultOf(`streaming-${chat}`, ms, { 'each edit made': each.ms }, { notes }))
  }
  return results
}

async function stream(
  chat: 'privateChat' | 'encryptedGroup',
  { coalesceEdits, headers }: { coalesceEdits: boolean; headers: Record<string, string> },
): Promise<{ ms: number; note: string }> {
  await using sandbox = await createSandbox()
  const { url: upstream, token, home } = sandbox
  const settings = { outbox: { coalesceEdits } }
  await using sidecar = await startSidecar({ upstream, token, settings })
  const { [chat]: chatId, alice } = home
  const phone = await sandbox.phone(alice.id)
  const sent = await callAt(sidecar.url, token, {
    method: 'POST',
    path: '/messages',
    body: { chatId, text: '…' },
  })
  const path = `/messages/${sent.json.result.id}`
  const edit = (text: string) =>
    callAt(sidecar.url, token, { method: 'PATCH', path, body: { chatId, text }, headers })
  const edits: ReturnType<typeof edit>[] = []
  for (let n = 1; n <= EDITS; n++) {
    await pause(WITHIN_MS / EDITS)
    const made = edit(`edit ${n}`)
    // `Promise.all` throws it: nobody awaits it before
    made.catch(() => {})
    edits.push(made)
  }
  const givenMs = performance.now()
  await phone.seen(({ text }) => text === `edit ${EDITS}`, LATEST_MS)
  const ms = performance.now() - givenMs
  const statuses = Object.groupBy(await Promise.all(edits), ({ status }) => status)
  const counts = Object.entries(statuses).map(([status, all = []]) => `${all.length} of ${status}`)
  const calls = sandbox.transcript.list().filter(({ method }) => method === 'PATCH')
  return { ms, note: `${calls.length} calls, answers ${counts.join(', ')}` }
}
