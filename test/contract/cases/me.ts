import assert from 'node:assert/strict'
import { LIMITS } from '../../../src/api/limits.ts'
import { casesOf } from '../case.ts'
import { at, okFields, shape, type Fields } from '../expect.ts'
import type { Stage } from '../stage.ts'

const me = async ({ bot }: Stage): Promise<Fields> => okFields(await bot.get('/me'))

export const ME = [
  ...casesOf('Bot (result of GET /me)', {
    '`GET /me` returns every field of the bot': {
      proves: ['endpoint getMe', 'bot-fields', 'bot-webhook', 'bot-status'],
      run: async (stage) => {
        const bot = shape(await me(stage), {
          id: 'int',
          username: 'string',
          name: 'string',
          about: 'string?',
          description: 'string?',
          mode: 'string',
          fingerprint: 'string?',
          privacyMode: 'boolean',
          allowGroups: 'boolean',
          status: 'string',
          webhook: 'object',
          queued: 'int',
          limits: 'object',
        })
        assert.equal(bot['id'], stage.me.id)
        assert.equal(bot['username'], stage.me.username)
        assert.equal(bot['status'], 'active')
        shape(bot['webhook'], {
          url: 'string?',
          hasSecret: 'boolean',
          failures: 'int',
          lastError: 'string?',
        })
      },
    },
    'a bot without a key, and any bot through the sidecar, is open without a fingerprint': {
      proves: ['bot-fingerprint'],
      needs: ['owner'],
      run: async (stage) => {
        const bot = await me(stage)
        assert.equal(bot['mode'], 'open')
        assert.equal(bot['fingerprint'], null)
        const truth = okFields(await stage.past.get('/me'))['mode']
        assert.equal(truth, stage.per({ service: 'open', protected: 'protected' }))
        const added = stage.per<unknown>({ service: undefined, protected: 'protected' })
        assert.equal(bot['postern'] && at(bot, 'postern.mode'), added)
      },
    },
    '`queued` in `/me` counts the waiting updates': {
      proves: ['bot-queued'],
      needs: ['people'],
      run: async (stage) => {
        assert.equal((await me(stage))['queued'], 0)
        const chatId = await stage.privateChat()
        await stage.alice.write(chatId, stage.words())
        await stage.alice.write(chatId, stage.words())
        assert.equal((await me(stage))['queued'], 2)
      },
    },
    '`/me` shows the owner’s settings for privacy mode and groups': {
      proves: ['bot-allow-groups'],
      needs: ['owner', 'rooms'],
      run: async (stage) => {
        await stage.owner.setPrivacyMode({ on: false })
        await stage.owner.allowGroups({ allow: false })
        const bot = await me(stage)
        assert.equal(bot['privacyMode'], false)
        assert.equal(bot['allowGroups'], false)
        await assert.rejects(stage.room(), 'it cannot be added to a group')
      },
    },
  }),
  ...casesOf('Limits', {
    'the limits in `/me` are integers under the names of the specification': {
      proves: [
        'limits-in-me',
        'limits-further-names',
        'bot-limits',
        ...Object.keys(LIMITS).map((name) => `limit ${name as keyof typeof LIMITS}` as const),
      ],
      run: async (stage) => {
        const limits = at(await me(stage), 'limits')
        for (const value of Object.values(limits as Fields)) assert.ok(Number.isInteger(value))
        for (const name of Object.keys(LIMITS)) assert.ok(Number(at(limits, name)) > 0, name)
      },
    },
  }),
]
