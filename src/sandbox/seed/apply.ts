import { FaultInput } from '../control/admin.ts'
import type { ControlContext } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import { newToken } from '../rules/bots.ts'
import { ACTIONS, actionInput, referencesIn } from './actions.ts'
import { parseDurationMs } from './duration.ts'
import { writeHistory } from './history.ts'
import { Names } from './ids.ts'
import { addChat } from './chats.ts'
import type { Seed, SeedBot, SeedPerson } from './schema.ts'

/** What a world's clock is to say at first, so that the oldest words are as old as they should be. */
export function clockStartMs(seed: Seed): number {
  const ages = Object.values(seed.chats).flatMap(({ history }) =>
    history.map(({ ago }) => parseDurationMs(ago)),
  )
  return beginning(seed) - Math.max(0, ...ages)
}

function beginning({ clock }: Seed): number {
  return clock?.at === undefined ? Date.now() : Date.parse(clock.at)
}

/**
 * Makes the world of a seed out of an empty one: everybody and their keys, the chats, what was
 * said in them, then what stands at the beginning; and hands the script to the story.
 */
export async function applySeed(on: ControlContext, control: Control, seed: Seed): Promise<void> {
  const names = new Names()
  const beginsMs = on.world.clock.now() + beginning(seed) - clockStartMs(seed)
  for (const [handle, person] of Object.entries(seed.people)) {
    const { firstName, lastName } = person
    const { id } = await control.addPerson({ username: handle, firstName, lastName })
    names.accounts.set(handle, id)
  }
  for (const [handle, bot] of Object.entries(seed.bots)) {
    names.accounts.set(handle, await addBot(on, control, { handle, bot }))
  }
  await Promise.all(
    Object.entries(seed.people).map(([handle, { key }]) =>
      giveKey(on, control, { userId: names.account(handle), key }),
    ),
  )
  for (const [name, chat] of Object.entries(seed.chats)) {
    names.chats.set(name, await addChat(control, { name, chat, names, beginsMs }))
  }
  await writeHistory(on, control, { seed, names, beginsMs })
  on.world.advance(Math.max(beginsMs - on.world.clock.now(), 0))
  await begin(control, { seed, names })
  for (const happening of seed.happenings) {
    const { at, ...deeds } = happening
    const deed = ACTIONS.find((one) => deeds[one] !== undefined)
    if (deed === undefined) continue
    const input = names.resolve({ ...deeds[deed] }, referencesIn(actionInput(deed)))
    on.story.add({ atMs: beginsMs + parseDurationMs(at), deed, input })
  }
}

async function addBot(
  on: ControlContext,
  control: Control,
  { handle, bot }: { handle: string; bot: SeedBot },
): Promise<number> {
  const { key, tokenSecret, paused: _later, commands: _too, ...profile } = bot
  const { id } = await control.addBot({ username: handle, ...profile })
  const made = on.world.bots.get(id)
  if (made !== undefined && tokenSecret !== undefined) made.token = newToken(id, tokenSecret)
  if (key !== undefined) await control.setBotKey({ botId: id, ...key })
  return id
}

async function giveKey(
  on: ControlContext,
  control: Control,
  { userId, key }: { userId: number; key: SeedPerson['key'] },
): Promise<void> {
  if (key === 'none') return
  if (typeof key === 'object') await control.publishKey({ userId, ...key })
  else await on.phones.of(userId, key === 'phone' ? undefined : key)
}

/** What stands when the story begins, which would have been in the way of what was said before. */
async function begin(
  control: Control,
  { seed, names }: { seed: Seed; names: Names },
): Promise<void> {
  for (const [handle, { blocks, gone }] of Object.entries(seed.people)) {
    const userId = names.account(handle)
    for (const bot of blocks) await control.block({ userId, botId: names.account(bot) })
    if (gone) await control.closeAccount({ userId })
  }
  for (const [handle, { commands, paused }] of Object.entries(seed.bots)) {
    const botId = names.account(handle)
    for (const [scope, list] of Object.entries(commands)) {
      await control.setCommands({ botId, scope: names.scope(scope), commands: list })
    }
    if (paused) await control.pause({ botId })
  }
  for (const fault of seed.faults) {
    await control.fault(FaultInput.parse(names.resolve(fault, referencesIn(FaultInput))))
  }
}
