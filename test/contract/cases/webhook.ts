import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { no, ok, okFields, shape } from '../expect.ts'
import { received } from '../steps.ts'

const GOOD = 'https://hooks.example.org/bot?x=1'

/** What is in public and not https, no address, or has what an address may not have. */
const NEVER = [
  'http://hooks.example.org/',
  'ftp://hooks.example.org/',
  '/bot',
  'hooks.example.org',
  'https://me:secret@hooks.example.org/',
  'https://hooks.example.org/#part',
]

export const WEBHOOK = [
  ...casesOf('POST /webhook', {
    'a public https webhook is set and shown, without its secret': {
      proves: [
        'endpoint setWebhook',
        'webhook-url',
        'webhook-result',
        'two-ways-of-updates',
        'webhook: not set -> set (POST /webhook)',
      ],
      needs: ['owner', 'host names'],
      run: async ({ bot }) => {
        const secret = 'very-secret_1'
        const answer = await bot.post('/webhook', { url: GOOD, secret })
        assert.deepEqual(ok(answer), { url: GOOD, hasSecret: true, pending: 0 })
        for (const path of ['/me', '/webhook']) {
          const shown = await bot.get(path)
          assert.ok(shown.body.includes('hooks.example.org'))
          assert.ok(!shown.body.includes(secret))
        }
        const open = await bot.post('/webhook', { url: GOOD })
        assert.deepEqual(ok(open), { url: GOOD, hasSecret: false, pending: 0 })
      },
    },
    'a webhook url that is not https, has credentials or a fragment, or is private is bad_webhook':
      {
        proves: ['error bad_webhook', 'webhook-url'],
        needs: ['owner', 'host names'],
        only: {
          ways: ['direct', 'live'],
          because: 'the sidecar delivers to private networks too, which a case of its own states',
        },
        run: async ({ bot }) => {
          const wrong = [
            ...NEVER,
            'https://127.0.0.1/',
            'https://0x7f000001/',
            'https://localhost/',
            'https://[::1]/',
            'https://10.1.2.3/',
            'https://192.168.0.1/',
            'https://169.254.169.254/',
            'https://[::ffff:10.0.0.1]/',
            'https://inside.example.org/',
            'https://mixed.example.org/',
            'https://nowhere.example.org/',
          ]
          for (const url of wrong) no(await bot.post('/webhook', { url }), 'bad_webhook')
          assert.equal(okFields(await bot.get('/webhook'))['url'], null)
        },
      },
    'the sidecar accepts http and private webhook urls, and refuses link-local and mixed ones': {
      proves: [],
      needs: ['owner'],
      only: { ways: ['protected', 'open'], because: 'only the sidecar delivers there' },
      run: async ({ bot }) => {
        const right = [
          'http://127.0.0.1:3000/',
          'http://[::1]/',
          'https://10.1.2.3/',
          'http://192.168.0.1/',
          'http://[::ffff:10.0.0.1]/',
          'http://inside.example.org/',
          'https://mixed.example.org/',
        ]
        const wrong = [
          ...NEVER,
          'http://mixed.example.org/',
          'https://169.254.169.254/',
          'https://[::ffff:169.254.169.254]/',
          'https://[fe80::1]/',
          'https://0.0.0.0/',
          'https://224.0.0.1/',
          'https://nowhere.example.org/',
        ]
        for (const url of wrong) no(await bot.post('/webhook', { url }), 'bad_webhook')
        assert.equal(okFields(await bot.get('/webhook'))['url'], null)
        for (const url of right) ok(await bot.post('/webhook', { url }))
        assert.equal(okFields(await bot.get('/webhook'))['url'], right.at(-1))
      },
    },
    'a webhook url has at most 1024 characters': {
      proves: ['limit webhookUrlMax'],
      needs: ['owner', 'host names'],
      run: async ({ bot, limits }) => {
        const long = (chars: number) => 'https://hooks.example.org/'.padEnd(chars, 'x')
        no(await bot.post('/webhook', { url: long(limits.webhookUrlMax + 1) }), [
          'bad_webhook',
          'bad_request',
        ])
        ok(await bot.post('/webhook', { url: long(limits.webhookUrlMax) }))
      },
    },
    'a webhook secret has 1 to 256 of A-Z, a-z, 0-9, _ and -, and other fields are refused': {
      proves: ['webhook-secret', 'webhook-no-other', 'error bad_request'],
      needs: ['owner', 'host names'],
      run: async ({ bot }) => {
        for (const secret of ['', 'x'.repeat(257), 'a b', 'é', 'a.b', 7, null]) {
          no(await bot.post('/webhook', { url: GOOD, secret }), 'bad_request')
        }
        for (const body of [{}, { url: 7 }, { url: GOOD, other: 1 }]) {
          no(await bot.post('/webhook', body), 'bad_request')
        }
        ok(await bot.post('/webhook', { url: GOOD, secret: 'aZ09_-'.padEnd(256, 'x') }))
      },
    },
    'setting a webhook ends the poll in progress, and the next polls answer webhook_active': {
      proves: ['error webhook_active', 'webhook-ends-poll'],
      needs: ['owner', 'people', 'host names'],
      run: async (stage) => {
        for (const bot of [stage.bot, stage.past]) {
          const poll = stage.bot.get('/updates?timeout=50')
          await stage.polling()
          ok(await bot.post('/webhook', { url: GOOD }))
          const ended = await poll
          if (ended.status === 200) assert.deepEqual(ok(ended), [])
          else no(ended, 'webhook_active')
          no(await stage.bot.get('/updates'), 'webhook_active')
          ok(await bot.delete('/webhook'))
          ok(await stage.bot.get('/updates'))
        }
      },
    },
  }),
  ...casesOf('WebhookInfo (result of GET /webhook)', {
    '`GET /webhook` without a webhook returns null and zeros': {
      proves: ['endpoint getWebhook', 'webhook-info-fields'],
      needs: ['owner'],
      run: async ({ bot }) => {
        const info = shape(ok(await bot.get('/webhook')), { pending: 'int' })
        const none = { url: null, hasSecret: false, failures: 0, lastError: null }
        assert.partialDeepStrictEqual(info, none)
      },
    },
  }),
  ...casesOf('DELETE /webhook', {
    'deleting a webhook leaves the queued updates for polling': {
      proves: [
        'endpoint deleteWebhook',
        'webhook-delete',
        'webhook-leaves-queue',
        'webhook: set -> not set (DELETE /webhook)',
      ],
      needs: ['owner', 'people', 'host names'],
      run: async (stage) => {
        await stage.owner.pause()
        ok(await stage.bot.delete('/webhook'))
        await stage.owner.resume()
        ok(await stage.bot.post('/webhook', { url: GOOD }))
        await stage.owner.pause()
        await stage.queue(2)
        const answer = await stage.bot.delete('/webhook')
        assert.deepEqual(ok(answer), { url: null, pending: 2 })
        await stage.owner.resume()
        assert.equal((await received(stage)).length, 2)
        assert.deepEqual(ok(await stage.bot.delete('/webhook')), { url: null, pending: 2 })
      },
    },
  }),
]
