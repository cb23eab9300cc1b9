import { expect, test } from 'vitest'
import { z } from 'zod'
import { ALL_OPERATIONS } from '../../src/sandbox/control/table.ts'
import type { Control, OperationName } from '../../src/sandbox/control/table.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { undeclaredFields } from './declared.ts'
import { A_KEY, ask, BUTTON, sent, still } from './support.ts'

/** Calls of a control, each of which is checked. */
interface Checked {
  control: Control
  called: Set<string>
}

/** A control whose every result must fit what its operation declares, and hold nothing beside. */
function checked(sandbox: Sandbox): Checked {
  const called = new Set<string>()
  const calls = ALL_OPERATIONS.map(([name, { output }]) => {
    const schema = z.toJSONSchema(output, { io: 'input', unrepresentable: 'any' })
    const run = sandbox.control[name] as (input: object) => Promise<unknown>
    return [
      name,
      async (input: object = {}) => {
        called.add(name)
        const result = await run(input)
        expect(output.safeParse(result).error, name).toBe(undefined)
        // an update that was injected may hold anything
        if (name !== 'queued') expect(undeclaredFields(schema, result), name).toEqual([])
        return result
      },
    ]
  })
  return { control: Object.fromEntries(calls) as Control, called }
}

const base64 = Buffer.from('a file').toString('base64')

/** Every operation, by what it needs of the ones before. */
async function everything(sandbox: Sandbox, control: Control): Promise<void> {
  const { alice, bob, bot, privateChat, readableGroup } = sandbox.home
  const botId = bot.id
  const dm = { userId: alice.id, chatId: privateChat }
  const group = { userId: bob.id, chatId: readableGroup }
  const chat = privateChat

  await control.givePhone({ userId: alice.id })
  const { messageId } = await control.write({ ...dm, text: 'hello' })
  const file = await control.sendMedia({ ...dm, base64, durationMs: 1000 })
  const { messageId: withFile, mediaId: fileId } = file
  await control.openMedia({ ...dm, messageId: withFile, mediaId: fileId })
  await control.certificate({ userId: alice.id })
  const { mediaId } = await control.addMedia({ base64 })
  await control.post({ ...dm, text: 'hello', mediaIds: [mediaId], replyTo: messageId })
  const pressable = await sent(sandbox, chat, { text: 'press', markup: BUTTON })
  const { callbackId } = await control.press({ ...dm, messageId: pressable })
  await ask(sandbox, `POST /callbacks/${callbackId}/answer`, { body: { text: 'done' } })
  await control.newKey({ userId: alice.id })
  await control.setBotKey({ botId, ...A_KEY })
  await control.bot({ botId })
  await control.removeKey({ botId })
  await control.safetyNumber({ userId: alice.id, botId })
  await ask(sandbox, `POST /chats/${chat}/typing`)
  await control.editMessage({ ...dm, messageId, text: 'better' })
  await control.deleteMessage({ ...dm, messageId })
  await control.inbox({ userId: alice.id })
  await control.screen({ userId: alice.id, chatId: chat })
  await control.messages({ chatId: chat })
  await control.queued({ botId })
  await control.injectUpdate({ botId, update: { kind: 'odd' } })

  await control.leave(group)
  await control.join({ ...group, status: 'admin', rights: 31 })
  await control.setMembership({ ...group, title: 'helper' })
  await control.changeChat({ chatId: readableGroup, description: 'a group' })
  await control.addRoom({ kind: 'channel', members: [alice.id], username: 'a_channel' })
  await control.addPrivateChat({ userId: bob.id, botId })
  await control.chats()

  await control.setCommands({
    botId,
    scope: 'default',
    commands: [{ command: 'a', description: 'b' }],
  })
  await control.commandsFor({ ...dm, botId })
  await control.addBot({ username: 'other_bot' })
  await control.changeBot({ botId, about: 'about' })
  await control.renameBot({ botId, username: 'parrot_bot' })
  await control.renameChat({ chatId: readableGroup, username: 'a_group' })
  await control.bots()
  await control.pause({ botId })
  await control.resume({ botId })
  await control.block({ userId: alice.id, botId })
  await control.unblock({ userId: alice.id, botId })
  await control.renamePerson({ userId: bob.id, username: 'bobby' })
  await control.publishKey({ userId: bob.id, ...A_KEY })
  await control.addPerson({ username: 'carol' })
  await control.people()
  await control.closeAccount({ userId: bob.id })

  const fault = await control.fault({ name: 'delay', delayMs: 1, times: 1 })
  await control.faults()
  await control.clearFaults({ id: fault.id })
  await control.advance({ ms: 1000 })
  await control.setClock({ mode: 'still' })
  await control.now()
  await control.schedule()
  await control.transcript()
  await control.search({ words: 'hello' })
  await control.clearTranscript()
  await control.issueToken({ botId })
  await control.revokeToken({ botId })
  await control.notices({ botId })

  await control.addWorld({ name: 'one' })
  await control.worlds()
  await control.removeWorld({ name: 'one' })
  const snapshot = await control.snapshot()
  await control.restore(snapshot)
  await control.snapshots()
  await control.removeSnapshot(snapshot)
  await control.reset()
  await control.events()
}

test(
  'every control operation returns the fields of its declared output and no others',
  { timeout: 60_000 },
  async () => {
    await using sandbox = await still()
    const { control, called } = checked(sandbox)
    await everything(sandbox, control)
    const names = ALL_OPERATIONS.map(([name]): OperationName => name)
    expect(names.filter((name) => !called.has(name))).toEqual([])
  },
)
