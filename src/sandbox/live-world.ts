import { Finder } from './control/find.ts'
import type { WorldHost, WorldList } from './control/hosting.ts'
import type { StepError } from './control/operation.ts'
import { bindControl } from './control/table.ts'
import type { Home } from './default-world.ts'
import { Phones, type SharedEngine } from './phone/phones.ts'
import { resumeTyping } from './rules/typing.ts'
import { Schedule } from './seed/schedule.ts'
import { startDelivering } from './webhook/delivery-loop.ts'
import type { World } from './world.ts'

/**
 * A world from its start, or a restore, until the next restore: its state never reaches the next
 * world. So a call that was under way can change only the former world.
 */
export type LiveWorld = ReturnType<typeof bringToLife>

/** Makes what goes on in a world. Nothing begins before `begin`. */
export function bringToLife(
  world: World,
  { host, worlds, engine }: { host: WorldHost; worlds: WorldList; engine: SharedEngine },
) {
  const { events } = host
  const phones = new Phones(world, engine)
  const schedule = new Schedule(world)
  world.onEvent((body) => {
    if (!world.closing.signal.aborted) events.append(world.clock.now(), body)
  })
  const context = { world, find: new Finder(world), host, worlds, phones, schedule, events }
  /** All operations on this world. */
  const control = bindControl(() => context)
  /** Ids and token of the default world, if it is one; under `home`. */
  const homes = world.persistence.map<string, Home>('home')
  return {
    ...context,
    control,
    homes,

    /** Starts deliveries and the schedule, and lets typing indicators end. @param onStepError called for each step that fails */
    begin(onStepError: (error: StepError) => void): void {
      for (const bot of world.bots.values()) if (bot.webhook !== null) startDelivering(world, bot)
      resumeTyping(world)
      // oxlint-disable-next-line typescript/no-floating-promises -- each failed step goes to onStepError
      void schedule.run(control, onStepError)
    },

    /** Ends polls, deliveries and the schedule. */
    end: () => world.closing.abort(),
  }
}
