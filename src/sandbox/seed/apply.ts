import { FaultInput } from '../faults/table.ts'
import type { ControlContext } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import { newToken } from '../rules/bots.ts'
import { ACTIONS, actionInput } from './actions.ts'
import { addChat, restrictMembers } from './chats.ts'
import { parseDurationMs } from './schema.ts'
import { writeHistory } from './history.ts'
import { SeedIds } from './ids.ts'
import type { Schedule } from './schedule.ts'
import type { Seed, SeedBot, SeedPerson } from './schema.ts'

/** The time to set the clock to, so that the oldest message of the history is as old as it should be. */
export function clockStartMs(seed: Seed): number {
  const ages = Object.values(seed.chats).flatMap(({ history }) =>
    history.map(({ ago }) => parseDurationMs(ago)),
  )
  return beginningMs(seed) - Math.max(0, ...ages)
}

function beginningMs({ clock }: Seed): number {
  return clock?.at === undefined ? Date.now() : Date.parse(clock.at)
}

/**
 * Applies a seed to an empty world: accounts and keys, chats, history, then the state at the
 * beginning. Adds the seed's steps to the schedule, which is not started here.
 */
export async function applySeed(
  context: ControlContext & { schedule: Schedule },
  control: Control,
  seed: Seed,
): Promise<void> {
  const { world, schedule } = context
  const ids = new SeedIds()
  const beginsMs = world.clock.now() + beginningMs(seed) - clockStartMs(seed)
  for (const [handle, { firstName, lastName }] of Object.entries(seed.people)) {
    const { id } = await control.addPerson({ username: handle, firstName, lastName })
    ids.accounts.set(handle, id)
  }
  for (const [handle, bot] of Object.entries(seed.bots)) {
    ids.accounts.set(handle, await addBot(context, control, { handle, bot }))
  }
  await Promise.all(
    Object.entries(seed.people).map(([handle, { key }]) =>
      addKey(context, control, { userId: ids.account(handle), key }),
    ),
  )
  for (const [name, chat] of Object.entries(seed.chats)) {
    ids.chats.set(name, await addChat(control, { name, chat, ids }))
  }
  await writeHistory(context, { seed, ids, beginsMs })
  await world.advance(Math.max(beginsMs - world.clock.now(), 0))
  await setInitialState(control, { seed, ids, beginsMs })
  for (const { at, ...actions } of [...seed.schedule, ...seed.happenings]) {
    const action = ACTIONS.find((name) => actions[name] !== undefined)
    if (action === undefined) continue
    const input = ids.resolve(actionInput(action), { ...actions[action] })
    schedule.add({ atMs: beginsMs + parseDurationMs(at), action, input })
  }
}

async function addBot(
  context: ControlContext,
  control: Control,
  { handle, bot }: { handle: string; bot: SeedBot },
): Promise<number> {
  const { key, tokenSecret, paused: _later, commands: _too, ...profile } = bot
  const { id } = await control.addBot({ username: handle, ...profile })
  const added = context.world.bots.get(id)
  if (added !== undefined && tokenSecret !== undefined) added.token = newToken(id, tokenSecret)
  if (key !== undefined) await control.setBotKey({ botId: id, ...key })
  return id
}

async function addKey(
  context: ControlContext,
  control: Control,
  { userId, key }: { userId: number; key: SeedPerson['key'] },
): Promise<void> {
  if (key === 'none') return
  if (typeof key === 'object') await control.publishKey({ userId, ...key })
  else await context.phones.of(userId, key === 'phone' ? undefined : key)
}

/**
 * Sets restrictions, blocks, closed accounts, commands, pauses and faults, which would prevent parts
 * of the history.
 */
async function setInitialState(
  control: Control,
  { seed, ids, beginsMs }: { seed: Seed; ids: SeedIds; beginsMs: number },
): Promise<void> {
  for (const [name, chat] of Object.entries(seed.chats)) {
    await restrictMembers(control, { chatId: ids.chat(name), chat, ids, beginsMs })
  }
  for (const [handle, { blocks, gone }] of Object.entries(seed.people)) {
    const userId = ids.account(handle)
    for (const bot of blocks) await control.block({ userId, botId: ids.account(bot) })
    if (gone) await control.closeAccount({ userId })
  }
  for (const [handle, { commands, paused }] of Object.entries(seed.bots)) {
    const botId = ids.account(handle)
    for (const [scope, list] of Object.entries(commands)) {
      await control.setCommands({ botId, scope: ids.scope(scope), commands: list })
    }
    if (paused) await control.pause({ botId })
  }
  for (const fault of seed.faults) {
    await control.fault(FaultInput.parse(ids.resolve(FaultInput, fault)))
  }
}
