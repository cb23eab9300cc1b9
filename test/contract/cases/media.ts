import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { list, no, ok } from '../expect.ts'
import { onlyMessage } from '../steps.ts'

export const MEDIA = casesOf('GET /media/{id}', [
  {
    name: 'a file is served exactly as stored, without a token',
    proves: ['media-public'],
    needs: ['people', 'rooms', 'owner'],
    run: async (stage) => {
      await stage.owner.setPrivacyMode({ on: false })
      const picture = await stage.postPicture(await stage.room({ readable: true }))
      const [item] = list((await onlyMessage(stage))['media'])
      const answer = await stage.bot.get(String(item?.['url']), { outside: true, token: null })
      if (stage.per({ service: true, protected: false, open: false })) {
        assert.equal(answer.status, 200)
        assert.ok(picture.equals(answer.body))
      } else {
        no(answer, 'postern_route_refused')
      }
    },
  },
  {
    name: 'an unknown file answers media_not_found',
    proves: ['media-unknown', 'error media_not_found'],
    run: async (stage) => {
      const answer = await stage.bot.get('/media/nothing', { outside: true, token: null })
      const refused = 'postern_route_refused' as const
      no(
        answer,
        stage.per<'media_not_found' | typeof refused>({
          service: 'media_not_found',
          protected: refused,
          open: refused,
        }),
      )
    },
  },
  {
    name: 'all else needs a token while a file needs none',
    proves: ['media-public'],
    run: async ({ bot }) => {
      ok(await bot.get('/me'))
      no(await bot.get('/me', { token: null }), 'unauthorized')
    },
  },
])
