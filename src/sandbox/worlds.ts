import { randomBytes } from 'node:crypto'
import { WorldDescription, type WorldInput, type WorldList } from './control/hosting.ts'
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
export class Worlds implements WorldList, AsyncDisposable {
  readonly #engine: SharedEngine
  readonly #worlds = new Map<string, HostedWorld>()
  /** Names of worlds that are being made. */
  readonly #coming = new Set<string>()
  /** Where the two listeners are, once they listen. */
  urls = { url: '', controlUrl: '' }

  constructor(engine: SharedEngine) {
    this.#engine = engine
  }

  /** The world that a request of either listener is for; a file at the root is that of any world. */
  find(url: string): ReturnType<WorldFinder<HostedWorld>> {
    const [, name, rest = ''] = BELOW_WORLD.exec(url) ?? []
    if (name !== undefined) {
      const path = rest.startsWith('/') ? rest : `/${rest}`
      return { world: this.#worlds.get(name) ?? null, path }
    }
    const mediaId = MEDIA.exec(url)?.[1] ?? ''
    const holder = [...this.#worlds.values()].find(({ world }) => world.files.has(mediaId))
    return { world: holder ?? this.#worlds.get(MAIN) ?? null, path: url }
  }

  list(): WorldDescription[] {
    return [...this.#worlds.values()].map((world) => this.describe(world))
  }

  async add(input: WorldInput): Promise<WorldDescription> {
    const { name = randomBytes(NAME_BYTES).toString('hex'), world, seed, ...rules } = input
    if (!NAME.test(name)) {
      throw new ControlError('the name of a world is 1 to 64 of a-z, 0-9, "_" and "-"')
    }
    if (this.#worlds.has(name) || this.#coming.has(name)) {
      throw new ControlError(`there is a world ${name} already; \`removeWorld\` ends it`)
    }
    if (world !== undefined && seed !== undefined) {
      throw new ControlError('give `world` or `seed`, not both')
    }
    const added = await this.open(name, {
      world: seed ?? world ?? 'home',
      phones: 'all',
      ...definedFields(rules),
    }).catch((error: unknown) => {
      throw error instanceof SeedError ? new ControlError(error.message) : error
    })
    added.begin()
    return this.describe(added)
  }

  async remove(name: string): Promise<void> {
    const world = this.#worlds.get(name)
    if (name === MAIN) throw new ControlError('the sandbox’s own world ends with the sandbox')
    if (world === undefined) {
      throw new ControlError(`there is no world ${name}; \`worlds\` lists them`)
    }
    this.#worlds.delete(name)
    await world[Symbol.asyncDispose]()
  }

  /** Opens a world under a name that is free. @throws OperatorError, SeedError */
  async open(name: string, options: HostedWorldOptions): Promise<HostedWorld> {
    this.#coming.add(name)
    try {
      const parts = { name, options, engine: this.#engine, worlds: this }
      const world = await HostedWorld.open(parts)
      this.#worlds.set(name, world)
      return world
    } finally {
      this.#coming.delete(name)
    }
  }

  /** Ends polls and deliveries of every world, so that the listeners can close. */
  endCalls(): void {
    for (const world of this.#worlds.values()) world.endCalls()
  }

  describe({ name, world }: HostedWorld): WorldDescription {
    const path = name === MAIN ? '' : `/worlds/${name}`
    const { url, controlUrl } = this.urls
    return WorldDescription.parse({
      name,
      path,
      url: url + path,
      controlUrl: controlUrl + path,
      bots: Array.from(world.bots.values(), (bot) => ({ ...bot, token: bot.token ?? '' })),
      people: [...world.people.values()],
      chats: Array.from(world.chats.values(), (chat) => ({ ...chat, mode: modeOf(world, chat) })),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worlds = [...this.#worlds.values()]
    await Promise.all(worlds.map((world) => world[Symbol.asyncDispose]()))
  }
}
