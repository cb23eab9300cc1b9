/** What the tests of a bot play with: the service, a person with a phone, and a sidecar. */
import { createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'
import { test as base } from 'vitest'

export const test = base.extend({
  /** One for all tests of a worker: to start it costs more than to put its world back. */
  running: [
    async ({}, use) => {
      await using sandbox = await createSandbox()
      await sandbox.phone(sandbox.home.alice.id) // makes her key, once
      sandbox.snapshot('start')
      await use(sandbox)
    },
    { scope: 'worker' },
  ],

  /** The service, with its world as it is at the start: one bot, two people, three chats. */
  sandbox: async ({ running }, use) => {
    await running.restore('start')
    await use(running)
  },

  /** Alice's phone. It writes, and remembers what it showed. */
  alice: async ({ sandbox }, use) => {
    await use(await sandbox.phone(sandbox.home.alice.id))
  },

  /** A sidecar before the bot. From then on the bot's private chats are encrypted. */
  sidecar: async ({ sandbox }, use) => {
    await using sidecar = await startSidecar({ upstream: sandbox.url, token: sandbox.token })
    await use(sidecar)
  },
})
