import { randomBytes } from 'node:crypto'
import { WorldDescription, type WorldList } from './control/hosting.ts'
import { ControlError, definedFields } from './control/operation.ts'
import { HostedWorld, type HostedWorldOptions } from './hosted-world.ts'
import type { WorldFinder } from './http/listener.ts'
import type { SharedEngine } from './phone/phones.ts'
import { modeOf } from './rules/mode.ts'
import { SeedError } from './seed/problem.ts'

/** The world that a sandbox begins with. */
export const MAIN = 'main'

/** The path of a request below that of a world, and of a file at the root. */
const BELOW_WORLD = /^\/worlds\/([^/?]*)([^]*)$/
const MEDIA = /^\/media\/([^/?]+)/
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i
/** Random bytes of a name that nobody chose. */
const NAME_BYTES = 6

/** Every world of a sandbox, by name: `main`, and those that were added. */
export function createWorlds(engine: SharedEngine) {
  const worlds = new Map<string, HostedWorld>()
  /** Names of worlds that are being made. */
  const coming = new Set<string>()
  /** Where the two listeners are, once they listen. */
  const urls = { url: '', controlUrl: '' }

  const describe = ({ name, world }: HostedWorld): WorldDescription => {
    const path = name === MAIN ? '' : `/worlds/${name}`
    return WorldDescription.parse({
      name,
      path,
      url: urls.url + path,
      controlUrl: urls.controlUrl + path,
      bots: Array.from(world.bots.values(), (bot) => ({ ...bot, token: bot.token ?? '' })),
      people: [...world.people.values()],
      chats: Array.from(world.chats.values(), (chat) => ({ ...chat, mode: modeOf(world, chat) })),
    })
  }

  /** Opens a world under a name that is free. @throws OperatorError, SeedError */
  const open = async (name: string, options: HostedWorldOptions): Promise<HostedWorld> => {
    coming.add(name)
    try {
      const world = await HostedWorld.open({ name, options, engine, worlds: list })
      worlds.set(name, world)
      return world
    } finally {
      coming.delete(name)
    }
  }

  /** The same as operations of the control have it. */
  const list: WorldList = {
    list: () => [...worlds.values()].map(describe),

    add: async (input) => {
      const { name = randomBytes(NAME_BYTES).toString('hex'), world, seed, ...rules } = input
      if (!NAME.test(name)) {
        throw new ControlError('the name of a world is 1 to 64 of a-z, 0-9, "_" and "-"')
      }
      if (worlds.has(name) || coming.has(name)) {
        throw new ControlError(`there is a world ${name} already; \`removeWorld\` ends it`)
      }
      if (world !== undefined && seed !== undefined) {
        throw new ControlError('give `world` or `seed`, not both')
      }
      const how = {
        world: seed ?? world ?? 'home',
        phones: 'all',
        ...definedFields(rules),
      } as const
      const added = await open(name, how).catch((error: unknown) => {
        throw error instanceof SeedError ? new ControlError(error.message) : error
      })
      added.begin()
      return describe(added)
    },

    remove: async (name) => {
      const world = worlds.get(name)
      if (name === MAIN) throw new ControlError('the sandbox’s own world ends with the sandbox')
      if (world === undefined) {
        throw new ControlError(`there is no world ${name}; \`worlds\` lists them`)
      }
      worlds.delete(name)
      await world[Symbol.asyncDispose]()
    },
  }

  return {
    urls,
    describe,
    open,

    /** The world that a request of either listener is for; a file at the root is that of any world. */
    find: (url: string): ReturnType<WorldFinder<HostedWorld>> => {
      const [, name, rest = ''] = BELOW_WORLD.exec(url) ?? []
      if (name !== undefined) {
        const path = rest.startsWith('/') ? rest : `/${rest}`
        return { world: worlds.get(name) ?? null, path }
      }
      const mediaId = MEDIA.exec(url)?.[1] ?? ''
      const holder = [...worlds.values()].find(({ world }) => world.files.has(mediaId))
      return { world: holder ?? worlds.get(MAIN) ?? null, path: url }
    },

    /** Ends polls and deliveries of every world, so that the listeners can close. */
    endCalls: (): void => {
      for (const world of worlds.values()) world.endCalls()
    },

    [Symbol.asyncDispose]: async () => {
      await Promise.all(Array.from(worlds.values(), (world) => world[Symbol.asyncDispose]()))
    },
  }
}
